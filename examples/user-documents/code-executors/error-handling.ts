// Error handling: code that fails or takes too long is a result; what cannot run is a typed error; cancelling rejects.
//   npx tsx examples/user-documents/code-executors/error-handling.ts
import { type CodeBlock, type CodeExecutor, type CodeResult, GloveboxError } from "glovebox"
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

async function executeSafely(
  executor: CodeExecutor,
  codeBlocks: readonly CodeBlock[],
): Promise<CodeResult | undefined> {
  try {
    const result = await executor.executeCodeBlocks(codeBlocks, { signal: AbortSignal.timeout(60_000) })
    if (result.termination === "timeout") console.log(`Execution timed out after: ${result.output.trim()}`)
    else if (result.exitCode !== 0) {
      console.log(`Execution failed with exit code ${result.exitCode}`)
      console.log(`Output: ${result.output.trim().split("\n").at(-1)}`)
    } else return result
  } catch (error) {
    if (!GloveboxError.is(error)) throw error
    console.log(`Execution error: ${error.code}`)
  }
  return undefined
}

await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
  timeout: "1s",
})
await executeSafely(executor, [{ language: "python", code: "print(1 / 0)" }])
await executeSafely(executor, [
  { language: "python", code: "print('working', flush=True)\nwhile True: pass" },
])
await executeSafely(executor, [{ language: "cobol", code: "DISPLAY 'HELLO'." }])
const result = await executeSafely(executor, [{ language: "python", code: "print('fine')" }])
console.log(result?.output.trim())

/* Prints:
Execution failed with exit code 1
Output: ZeroDivisionError: division by zero
Execution timed out after: working
Execution error: LANGUAGE_UNKNOWN
fine
*/
