// A very restricted executor: no network, nothing writable but a throw-away workspace, one data folder read-only.
//   npx tsx examples/user-documents/restricted-sandbox/executor.ts
import { fileURLToPath } from "node:url"
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

const data = fileURLToPath(new URL("../data", import.meta.url))

await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
  extraVolumes: { [data]: { bind: "/workspace/host_ro", mode: "ro" } },
  network: "none", // the default
  user: "65532:65532", // the default: numbers, because a name means what the image says it means
  autoRemove: true, // the default; each call has a container of its own
  pids: 128, // the default
})

const result = await executor.executeCodeBlocks([
  {
    language: "python",
    code: `import os, socket
print(open("host_ro/heights.csv").readline().strip(), "for user", os.getuid())
attempts = {
    "write to the data": lambda: open("host_ro/heights.csv", "a"),
    "write to the system": lambda: open("/usr/bin/evil", "w"),
    "reach the network": lambda: socket.create_connection(("192.0.2.1", 80), timeout=2),
}
for what, attempt in attempts.items():
    try: attempt(); print(what, "worked")
    except OSError: print(what, "failed")`,
  },
])
process.stdout.write(result.output)

/* Prints:
name,height for user 65532
write to the data failed
write to the system failed
reach the network failed
*/
