// Somebody looks at code before it runs. Here a rule does; in a program of yours a person may.
//   npx tsx examples/agents/approval.ts
import { type ApproveCode, CodeExecutorAgent, answerText } from "glovebox"

const approve: ApproveCode = ({ agent, code, sha256, policy }) => {
  const network = JSON.stringify(policy?.fields.network)
  console.log(`${agent} wants to run code ${sha256.slice(0, 8)}, network: ${network}`)
  return code.includes("open(") ? { approved: false, reason: "It opens files." } : { approved: true }
}

// Without a model it runs the code that others write.
await using runner = new CodeExecutorAgent({ name: "runner", approve, approvalTimeout: "5m" })

for (const code of ["print(2 ** 10)", "print(open('/etc/passwd').read())"]) {
  const result = await runner.run("```python\n" + code + "\n```")
  console.log(`${result.messages.at(-1)?.metadata["approval"] ?? "approved"}: ${answerText(result)}`)
}

/* Prints:
runner wants to run code a734a91d, network: "none"
approved: 1024
runner wants to run code 0291c1eb, network: "none"
denied: The code was not approved, so it did not run. Do not try it again. Reason: It opens files.
*/
