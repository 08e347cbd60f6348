// Local command line executor: no sandbox at all, so it has to be told so. A warning is shown.
//   npx tsx examples/user-documents/code-executors/local.ts
import { GloveboxError } from "glovebox"
import { LocalCommandLineCodeExecutor } from "glovebox/executors/local"

try {
  // @ts-expect-error The type asks for the word, too.
  await using refused = new LocalCommandLineCodeExecutor({})
  await refused.start()
} catch (error) {
  if (GloveboxError.is(error)) console.log(`without the word for it: ${error.code}`)
}

await using executor = new LocalCommandLineCodeExecutor({ dangerouslyRunOnHost: true, timeout: "60s" })
const result = await executor.executeCodeBlocks([{ language: "python", code: "print('Hello, World!')" }])
process.stdout.write(result.output)

/* Prints:
without the word for it: HOST_EXECUTION_REFUSED
Hello, World!
*/
