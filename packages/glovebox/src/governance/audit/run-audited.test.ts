import { describe, expect, it } from "vitest"
import type { CodeResult } from "../../executors/code-result.ts"
import { type AuditSink, codeRunDone, codeRunFailed, codeRunIntent, egressData, runAudited } from "./index.ts"
import { AuditFolder, note } from "./audit-folder.test-kit.ts"

const effect = <T>(run: () => T): Parameters<typeof runAudited<T>>[1] => ({
  intent: note("intent"),
  effect: run,
  outcome: () => note("done"),
  failure: (error) => note("failed", { error }),
})

/** A log that takes so many records, and then none. */
async function fullAfter(folder: AuditFolder, count: number): Promise<AuditSink & AsyncDisposable> {
  const log = folder.log()
  for (let index = 0; index < count; index += 1) await log.append(note("before"))
  let room = count
  return {
    append: async (entry, options) => {
      if ((room -= 1) < 0) await log.close()
      return log.append(entry, options)
    },
    [Symbol.asyncDispose]: () => log.close(),
  }
}

describe("runAudited", () => {
  it("records before and after", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log()
    expect(
      await runAudited(
        log,
        effect(() => 42),
      ),
    ).toBe(42)
    const failing = effect(() => {
      throw new Error("no")
    })
    await expect(runAudited(log, failing)).rejects.toThrow("no")
    const names = (await folder.records()).slice(1).map(({ data }) => data["name"])
    expect(names).toEqual(["intent", "done", "intent", "failed"])
  })

  it("does nothing that it could not announce", async () => {
    await using folder = await AuditFolder.make()
    await using log = await fullAfter(folder, 0)
    let isDone = false
    const call = effect(() => (isDone = true))
    await expect(runAudited(log, call)).rejects.toMatchObject({ code: "AUDIT_LOG_CLOSED" })
    expect(isDone).toBe(false)
  })

  it("does not report as done what it could not record", async () => {
    await using folder = await AuditFolder.make()
    await using log = await fullAfter(folder, 1)
    const lost = { code: "AUDIT_OUTCOME_LOST", cause: { code: "AUDIT_LOG_CLOSED" } }
    await expect(
      runAudited(
        log,
        effect(() => 42),
      ),
    ).rejects.toMatchObject(lost)
  })

  it("goes on without a record where none is required, and tells", async () => {
    await using folder = await AuditFolder.make()
    await using log = await fullAfter(folder, 0)
    const unrecorded: unknown[] = []
    const options = { auditRequired: false, onUnrecorded: (error: unknown) => unrecorded.push(error) }
    expect(
      await runAudited(
        log,
        effect(() => 42),
        options,
      ),
    ).toBe(42)
    expect(unrecorded).toHaveLength(2)
  })

  it("records what came of an effect that was aborted while it ran", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log()
    const controller = new AbortController()
    const call = effect(() => {
      controller.abort(new Error("enough"))
      throw controller.signal.reason
    })
    await expect(runAudited(log, call, { signal: controller.signal })).rejects.toThrow("enough")
    await expect(runAudited(log, call, { signal: controller.signal })).rejects.toThrow("enough")
    const names = (await folder.records()).slice(1).map(({ data }) => data["name"])
    expect(names).toEqual(["intent", "failed"])
  })
})

describe("the data of a code run", () => {
  const blocks = [{ language: "python", code: "print(1)" }]
  const sha256 = "e9faf9b66c1b9ed3f5bb9dd7ab1ea4ac8cd3ebd3ba0a9f9cde7a9fb9b22a3a8f"
  const result: CodeResult = {
    exitCode: 124,
    output: "1\n",
    stdout: "1\n",
    stderr: "",
    termination: "timeout",
    truncated: false,
    durationMs: 12.5,
    blocks: [
      {
        language: "python",
        codeFile: "a.py",
        exitCode: 124,
        termination: "timeout",
        limitsHit: ["wall"],
        output: "1\n",
        stdout: "1\n",
        stderr: "",
        truncated: false,
        durationMs: 12,
      },
    ],
    artifacts: [{ path: "a.png", size: 1, sha256, executable: false, content: new Uint8Array(1) }],
    artifactsTruncated: false,
    codeFile: "a.py",
    sandbox: {
      kind: "docker",
      policySha256: sha256,
      isolation: "run",
      imageDigest: "sha256:1",
      engine: "east",
      effective: { NetworkMode: "none", missing: undefined },
    },
  }

  it("says what ran, where, and what came out, and has no content unless asked", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log()
    const intent = codeRunIntent("c1", blocks)
    await log.append({ kind: "code-run", data: intent })
    await log.append({ kind: "code-run", data: codeRunDone(intent, result) })
    await log.append({ kind: "code-run", data: codeRunFailed(intent, "lost", 1) })
    const records = (await folder.records()).slice(1)
    expect(records.map(({ data }) => data["phase"])).toEqual(["intent", "done", "failed"])
    expect(records[1]?.data).toMatchObject({
      policySha256: sha256,
      imageDigest: "sha256:1",
      engine: "east",
      effective: { NetworkMode: "none" },
      limitsHit: ["wall"],
      termination: "timeout",
      outputBytes: 2,
      artifacts: [{ path: "a.png", size: 1, sha256 }],
    })
    expect(JSON.stringify(records)).not.toContain("print(1)")
    expect(codeRunIntent("c1", blocks, { code: true }).blocks[0]?.code).toBe("print(1)")
    expect(codeRunDone(intent, result, { output: true }).output).toBe("1\n")
  })

  it("says what code tried to reach", async () => {
    await using folder = await AuditFolder.make()
    await using log = folder.log()
    const connection = {
      id: 7,
      via: "connect",
      host: "evil.com",
      port: 443,
      verdict: "denied",
      denial: {
        code: "NOT_ALLOWED",
        rule: undefined,
        resource: "evil.com:443",
        message: "m",
        suggestion: "s",
      },
      bytesUp: 0,
      bytesDown: 0,
      durationMs: 1.5,
    } as const
    await log.append({ kind: "egress", data: egressData({ state: "denied", connection }, "c1") })
    expect((await folder.records())[1]?.data).toMatchObject({ id: "c1", connection: 7, host: "evil.com" })
  })
})
