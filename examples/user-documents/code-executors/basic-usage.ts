// Docker command line executor: basic usage, with start and stop.
//   npx tsx examples/user-documents/code-executors/basic-usage.ts
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

const executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
})
await executor.start()

try {
  const codeBlocks = [{ language: "python", code: "print('Hello from Docker!')" }]
  const result = await executor.executeCodeBlocks(codeBlocks, { signal: AbortSignal.timeout(60_000) })
  process.stdout.write(result.output)
} finally {
  await executor.stop()
}

/* Prints:
Hello from Docker!
*/
