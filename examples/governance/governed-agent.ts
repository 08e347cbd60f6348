// One object is what agents are bound by: who may use what, who is asked, what is written down, what never leaves.
//   npx tsx examples/governance/governed-agent.ts
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CodeExecutorAgent, GloveboxError, answerText } from "glovebox"
import { Governance, readAuditLog, verifyAuditLog } from "glovebox/governance"

const path = join(await mkdtemp(join(tmpdir(), "governed-")), "audit.jsonl")

await using governance = new Governance({
  // The default is .glovebox/audit.jsonl in the current folder.
  audit: { path },
  redaction: { values: { DATABASE_PASSWORD: "correct-horse-battery" } },
  access: { rules: [{ agents: "runner", executors: ["docker", "wasm"], policy: "deny-all" }] },
})

// Without a model it runs the code that others write, in the sandbox that works here.
await using runner = new CodeExecutorAgent({ name: "runner", governance })
await using other = new CodeExecutorAgent({ name: "other", governance })

const task = "```python\nprint('the password is correct-horse-battery')\n```"
const result = await governance.auditRun({ task }, () => runner.run(task))
console.log(answerText(result).trim())

// Once there is a rule, what no rule allows is denied.
await other.run(task).catch((error: unknown) => {
  if (GloveboxError.is(error)) console.log(error.code)
})

for await (const { agent, kind, data } of readAuditLog(path)) {
  const what = data["phase"] ?? data["outcome"] ?? data["reason"]
  // How many sandboxes there were depends on what works here.
  if (kind !== "log" && kind !== "sandbox")
    console.log(`${agent ?? "-"} ${kind}${typeof what === "string" && what.length < 20 ? ` ${what}` : ""}`)
}
console.log(`whole: ${(await verifyAuditLog(path)).ok}`)

/* Prints:
the password is [redacted:DATABASE_PASSWORD]
ACCESS_DENIED
- run-start
runner approval request
runner approval decision
runner policy-load
runner code-run intent
runner code-run done
- run-end done
other access-denied
whole: true
*/
