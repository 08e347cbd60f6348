// Advanced configuration: image, name, time, a folder for the files.
//   npx tsx examples/user-documents/code-executors/advanced-configuration.ts
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

const workDir = await mkdtemp(join(tmpdir(), "workspace-"))
{
  await using executor = new DockerCommandLineCodeExecutor({
    image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3.11-slim",
    containerName: `glovebox-executor-${process.pid}`,
    isolation: "session", // one container, under that name, for the executor's life
    timeout: "120s",
    workDir, // files travel there; nothing is mounted
    autoRemove: true,
    stopContainer: true,
  })
  await executor.executeCodeBlocks([
    { language: "python", code: "open('report.txt', 'w').write('made in the container\\n')" },
  ])
}
process.stdout.write(await readFile(join(workDir, "report.txt"), "utf8"))
await rm(workDir, { recursive: true })

/* Prints:
made in the container
*/
