import { type AuditEntry, type AuditLog, codeRunIntent } from "../../governance/index.ts"

export const SHA = "a".repeat(64)
export const CODE = [{ language: "python", code: "print(6 * 7)\n" }]

/** Records of one run: code that was approved, tried to get out, and used a secret. */
export async function recordDemoRun(log: AuditLog, run = "run-7"): Promise<void> {
  await Promise.all(demoEntries(run).map((entry) => log.append(entry)))
}

function demoEntries(run: string): AuditEntry[] {
  const agent = "coder"
  const intent = { ...codeRunIntent(`code-of-${run}`, CODE, { code: true }), policySha256: SHA }
  const sha256 = intent.codeSha256 ?? ""
  const connection = {
    id: intent.id,
    connection: 1,
    via: "connect",
    port: 443,
    bytesUp: 10,
    bytesDown: 20,
    durationMs: 5,
  }
  const denial = {
    code: "EGRESS_DENIED",
    resource: "evil.test:443",
    message: "not allowed",
    suggestion: "none",
  }
  const ask = { phase: "request", id: `ask-of-${run}`, subject: "code", sha256, risk: "high" } as const
  const answer = { phase: "decision", id: ask.id, decision: "approved", by: "alice", sha256 } as const
  const opened = { ...connection, host: "api.test", verdict: "allowed", rule: "api.test:443" } as const
  return [
    {
      kind: "run-start",
      run,
      data: {
        command: "glovebox run",
        task: "Multiply",
        taskSha256: SHA,
        details: { files: [{ path: "numbers.csv", sha256: SHA }] },
      },
    },
    {
      kind: "policy-load",
      run,
      agent,
      data: { sha256: SHA, source: "policy.yaml", widenings: ["network: none -> api.test:443"] },
    },
    { kind: "approval", run, agent, data: ask },
    { kind: "approval", run, agent, data: answer },
    { kind: "code-run", run, agent, data: intent },
    { kind: "egress", run, agent, data: { ...opened, state: "opened", bytesDown: 0 } },
    { kind: "egress", run, agent, data: { ...opened, state: "closed" } },
    {
      kind: "egress",
      run,
      agent,
      data: { ...connection, connection: 2, state: "denied", host: "evil.test", verdict: "denied", denial },
    },
    {
      kind: "secret-used",
      run,
      agent,
      data: { name: "TOKEN", host: "api.test", id: intent.id },
    },
    {
      kind: "code-run",
      run,
      agent,
      data: {
        ...intent,
        phase: "done",
        executor: "docker",
        image: "python:3-slim",
        imageDigest: `sha256:${SHA}`,
        runtime: "runc",
        exitCode: 0,
        termination: "exit",
        durationMs: 1200,
        outputSha256: SHA,
        outputBytes: 3,
        artifacts: [{ path: "answer.txt", size: 3, sha256: SHA }],
      },
    },
    { kind: "run-end", run, data: { outcome: "done", answerSha256: SHA, answer: "42", durationMs: 2000 } },
  ]
}
