// Context manager: `await using` stops the executor, and the first use starts it.
//   npx tsx examples/user-documents/code-executors/context-manager.ts
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
})
const result = await executor.executeCodeBlocks([{ language: "python", code: "print('Hello!')" }])
process.stdout.write(result.output)
// The executor is stopped and cleaned up here.

/* Prints:
Hello!
*/
