// Security best practices: resource limits, read-only mounts, no network. All but the mount are defaults; here they are
// tighter, and read back from the running container.
//   npx tsx examples/user-documents/code-executors/best-practices.ts
import { fileURLToPath } from "node:url"
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

const secrets = fileURLToPath(new URL("../data", import.meta.url))

await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
  memory: "256MiB",
  cpus: 0.5,
  pids: 64,
  network: "none",
  extraVolumes: { [secrets]: { bind: "/mnt/secrets", mode: "ro" } },
})

const greedy = "hoard = []\nwhile True: hoard.append(bytearray(1_000_000))"
const { termination, sandbox } = await executor.executeCodeBlocks([{ language: "python", code: greedy }])
console.log(`a program that wants all memory: ${termination}`)
const { memory, cpus, pids } = sandbox.effective
console.log({ memory, cpus, pids })

/* Prints:
a program that wants all memory: oom
{ memory: 268435456, cpus: 0.5, pids: 64 }
*/
