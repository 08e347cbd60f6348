import { afterEach, describe, expect, it, vi } from "vitest"
import { FakeExecutor } from "../../chat/agents/code-executor/fake-executor.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import type { CodeBlock, CodeResult, ExecutionEvent } from "../../executors/index.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { type ApprovalGateOptions, Governance, type GovernanceOptions, sha256Of } from "../index.ts"
import { AuditFolder } from "../audit/audit-folder.test-kit.ts"
import { GovernedPlace } from "../governance.test-kit.ts"
import { MemorySink, Telling, connection, finished } from "./telling-executor.test-kit.ts"

const CODE: readonly CodeBlock[] = [{ code: "print(1)", language: "python" }]
const NARROW = new SandboxPolicy({ network: { allow: ["a.example:443"] } })
const WIDE = new SandboxPolicy({ network: { allow: ["a.example:443", "b.example:443"] } })

/** An executor whose policy somebody changes. */
class Changing extends FakeExecutor {
  override policy = NARROW
  runsOnHost = false
}

function governed(
  executor: FakeExecutor,
  options: GovernanceOptions,
): { readonly run: (signal?: AbortSignal) => Promise<CodeResult> } {
  const governor = new Governance(options).agent("coder").executor(executor)
  return { run: async (signal) => governor.executeCodeBlocks(CODE, { signal }) }
}

afterEach(() => {
  vi.useRealTimers()
})

describe("a governed executor under attack", () => {
  const widen = {
    "its policy": (executor: Changing) => (executor.policy = WIDE),
    "its wall": (executor: Changing) => (executor.runsOnHost = true),
  }
  it.each(["its policy", "its wall"] as const)(
    "does not run where %s is widened after it was allowed, whenever that is",
    async (what) => {
      for (const when of ["approval request", "approval decision", "policy-load", "code-run intent"]) {
        const inner = new Changing("1\n")
        const sink = new MemorySink(({ kind, data }) => {
          if ([kind, `${kind} ${"phase" in data ? data.phase : ""}`].includes(when)) widen[what](inner)
        })
        const access = { rules: [{ agents: "coder", executors: "*", policy: NARROW }] }
        const approval: ApprovalGateOptions = { provider: () => ({ decision: "approve" }) }
        const { run } = governed(inner, { audit: sink, access, approval })
        await expect(run(), when).rejects.toMatchObject({ code: "APPROVAL_MISMATCH" })
        expect(inner.ran, when).toEqual([])
        // What was announced has an end.
        const intents = sink.told.filter((line) => line === "code-run intent").length
        expect(sink.told.filter((line) => line === "code-run failed")).toHaveLength(intents)
      }
    },
  )

  it("runs where its policy is narrowed meanwhile", async () => {
    const inner = new Changing("1\n")
    inner.policy = WIDE
    const audit = new MemorySink(({ kind }) => {
      if (kind === "code-run") inner.policy = NARROW
    })
    await governed(inner, { audit, approval: false }).run()
    expect(inner.ran).toHaveLength(1)
  })

  it("does not run on the machine itself because a list of what is beyond its policy is empty", async () => {
    const inner = Object.assign(new FakeExecutor(), { runsOnHost: true, beyondPolicy: [] })
    await expect(governed(inner, { audit: false }).run()).rejects.toMatchObject({ code: "APPROVAL_DENIED" })
    expect(inner.ran).toEqual([])
  })

  it("tells one end of a run, the one that it recorded", async () => {
    const sink = new MemorySink()
    const inner = new Telling(
      finished({ output: "first" }),
      { type: "egress", ...connection("late.example") },
      finished({ output: "second" }),
      { type: "stdout", block: 0, text: "more", bytes: Buffer.from("more") },
    )
    const events: ExecutionEvent[] = []
    const executor = new Governance({ audit: sink }).agent("coder").executor(inner)
    for await (const event of executor.stream(CODE)) events.push(event)
    expect(events).toMatchObject([{ type: "finished", result: { output: "first" } }])
    expect(sink.told.slice(-3)).toEqual(["code-run intent", "code-run done", "egress"])
  })

  it.each([
    [
      "a policy's hash that is none",
      { sandbox: { kind: "x", policySha256: "?", isolation: "run", effective: {} } },
    ],
    ["no exit code", { exitCode: Number.NaN }],
    ["no blocks", { blocks: undefined }],
  ])("has an end in the log where a result has %s", async (_, fields) => {
    await using place = await GovernedPlace.make({ approval: false })
    const executor = place.governance
      .agent("coder")
      .executor(new Telling(finished(fields as Partial<CodeResult>)))
    const [{ status }] = await Promise.allSettled([executor.executeCodeBlocks(CODE)])
    expect((await place.told()).at(-1)).toBe("sandbox" in fields ? "code-run done" : "code-run failed")
    expect(status).toBe("sandbox" in fields ? "fulfilled" : "rejected")
  })

  it("records a run whose code, output and files are too much for a record, by their hashes", async () => {
    await using folder = await AuditFolder.make()
    const audit = { path: folder.path, maxRecordBytes: 64 * 1024 }
    await using governance = new Governance({ audit, content: { code: true, output: true } })
    const output = "word ".repeat(20_000)
    const artifacts = Array.from({ length: 1_000 }, (_, index) => ({
      path: `${index}.txt`,
      size: 1,
      sha256: sha256Of("a"),
      executable: false,
      content: Buffer.from("a"),
    }))
    const executor = governance.agent("coder").executor(new Telling(finished({ output, artifacts })))
    const result = await executor.executeCodeBlocks([{ code: `#${output}`, language: "python" }])
    expect(result.output).toBe(output)
    const records = await folder.records()
    expect(records.findLast(({ kind }) => kind === "code-run")?.data).toMatchObject({
      phase: "done",
      outputSha256: sha256Of(output),
      omitted: [
        `blocks[0].code: 100001 bytes, sha256 ${sha256Of(`#${output}`)}`,
        `output: 100000 bytes, sha256 ${sha256Of(output)}`,
        expect.stringMatching(/^artifacts: \d+ bytes, sha256 /),
      ],
    })
    expect(records.find(({ kind }) => kind === "approval")?.data).toMatchObject({
      omitted: [expect.stringMatching(/^payload: /)],
    })
  })

  it("says that it happened where what it tried to reach could not be recorded", async () => {
    const sink = new MemorySink(({ kind }) => {
      if (kind === "egress") throw new Error("full")
    })
    const inner = new Telling({ type: "egress", ...connection("evil.example") }, finished())
    await expect(governed(inner, { audit: sink }).run()).rejects.toMatchObject({ code: "AUDIT_OUTCOME_LOST" })
    expect(sink.told.at(-1)).toBe("code-run done")
  })

  it("ends the record of what it announced where it is aborted meanwhile, and does not run", async () => {
    const stop = new AbortController()
    const sink = new MemorySink(({ kind }) => {
      if (kind === "code-run") stop.abort(new Error("enough"))
    })
    const inner = new FakeExecutor("1\n")
    await expect(governed(inner, { audit: sink, approval: false }).run(stop.signal)).rejects.toThrow("enough")
    expect(inner.ran).toEqual([])
    expect(sink.told.slice(-2)).toEqual(["code-run intent", "code-run failed"])
  })

  it("leaves an executor that does not look at its signal, and records that", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const sink = new MemorySink()
    const begun = gate()
    class Deaf extends FakeExecutor {
      override async *stream(): AsyncGenerator<ExecutionEvent, void, undefined> {
        begun.open()
        yield await new Promise<never>(() => {})
      }
    }
    const stop = new AbortController()
    const run = governed(new Deaf(), { audit: sink }).run(stop.signal)
    const ended = Promise.allSettled([run])
    await begun.promise
    stop.abort(new Error("enough"))
    await vi.advanceTimersByTimeAsync(20_000)
    expect(await ended).toMatchObject([{ reason: { message: "enough" } }])
    expect(sink.told.at(-1)).toBe("code-run failed")
  })

  it.each([
    ["code-run intent", "before", false],
    ["code-run done", "after", true],
  ])("ends where a sink never takes the %s, %s the run", async (when, _, hasRun) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const reached = gate()
    const sink = new MemorySink(({ kind, data }) => {
      if (`${kind} ${"phase" in data ? data.phase : ""}` !== when) return undefined
      reached.open()
      return new Promise(() => {})
    })
    const stop = new AbortController()
    const inner = new Telling(finished())
    const run = governed(inner, { audit: sink }).run(stop.signal)
    const ended = Promise.allSettled([run])
    await reached.promise
    stop.abort(new Error("enough"))
    await vi.advanceTimersByTimeAsync(20_000)
    expect(await ended).toMatchObject([{ reason: { message: expect.stringContaining("enough") } }])
    expect(inner.ran).toHaveLength(hasRun ? 1 : 0)
  })

  it.each(["throws", "rejects"])("does not run where a sink %s what is no error of ours", async (how) => {
    const inner = new FakeExecutor("1\n")
    const audit = new MemorySink(({ kind }) => {
      if (kind !== "code-run") return undefined
      if (how === "throws") throw new TypeError("sink")
      return Promise.reject(new TypeError("sink"))
    })
    await expect(governed(inner, { audit }).run()).rejects.toMatchObject({ code: "AUDIT_WRITE_FAILED" })
    expect(inner.ran).toEqual([])
  })
})
