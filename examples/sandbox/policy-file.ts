// A policy in a file, under version control.
//   npx tsx examples/sandbox/policy-file.ts
import { fileURLToPath } from "node:url"
import { createExecutor, loadPolicy } from "glovebox"

const policy = await loadPolicy(fileURLToPath(new URL("glovebox.policy.yaml", import.meta.url)))
await using executor = await createExecutor({ policy })

const { output, sandbox } = await executor.executeCodeBlocks([
  { language: "python", code: "print('code that ran under the policy')" },
])
process.stdout.write(output)
console.log(sandbox.policySha256 === policy.sha256 ? "and under no other" : "it was another one")

const { termination } = await executor.executeCodeBlocks([{ language: "python", code: "while True: pass" }])
console.log(`a program without end: ${termination}`)

/* Prints:
code that ran under the policy
and under no other
a program without end: timeout
*/
