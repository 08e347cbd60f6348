import { expect, it } from "vitest"
import { staticWorkbench, tool } from "../../tools/index.ts"
import { type GateAnswer, Governance, Redactor, sha256Of } from "../index.ts"
import { MemorySink } from "./telling-executor.test-kit.ts"

it.each([
  ["a hash", sha256Of("key")],
  ["an id", "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"],
])(
  "takes a secret that looks like %s out of what is recorded as content, and leaves hashes and ids",
  async (_, secret) => {
    const audit = new MemorySink()
    const redaction = new Redactor({ values: [secret], environment: false })
    const provider = (): GateAnswer => ({ decision: "approve", by: secret, reason: secret })
    const approval = { provider, rules: [{ when: {}, then: "ask" } as const] }
    const governance = new Governance({ audit, redaction, approval, content: { arguments: true } })
    const send = tool({
      name: "send",
      description: "Sends",
      parameters: { type: "object" },
      execute: () => "ok",
    })
    const workbench = governance.agent("clerk").workbench(staticWorkbench([send]))
    await workbench.callTool("send", { with: secret, all: [secret, { more: secret }] })
    expect(JSON.stringify(audit.entries)).not.toContain(secret)
    expect(audit.entries.find(({ kind }) => kind === "tool-call")?.data).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      argumentsSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  },
)
