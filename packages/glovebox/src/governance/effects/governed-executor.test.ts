import { describe, expect, it } from "vitest"
import { FakeExecutor } from "../../chat/agents/code-executor/fake-executor.test-kit.ts"
import type { CodeBlock, ExecutionEvent, InputFile, KnownSecret } from "../../executors/index.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { type ApprovalGateOptions, Redactor, sha256Of } from "../index.ts"
import { GovernedPlace } from "../governance.test-kit.ts"
import { Telling, connection, finished } from "./telling-executor.test-kit.ts"

const CODE: readonly CodeBlock[] = [{ code: "print(1)", language: "python" }]
const SECRET = "tok-9f83hf83hf8h3f8h3f"

/** An executor whose policy reaches further than deny-all. */
class Wide extends FakeExecutor {
  override readonly policy = new SandboxPolicy({ network: { allow: ["example.com:443"] } })
}

const out = (type: "stdout" | "stderr", bytes: Uint8Array): ExecutionEvent => ({
  type,
  block: 0,
  text: Buffer.from(bytes).toString("utf8"),
  bytes,
})

async function all(stream: AsyncIterable<ExecutionEvent>): Promise<ExecutionEvent[]> {
  const events: ExecutionEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

describe("a governed executor", () => {
  it("writes down the leave, the policy, what is about to run, and what came of it", async () => {
    await using place = await GovernedPlace.make()
    const executor = place.governance.agent("coder").executor(new Telling(finished({ output: "1\n" })))
    await executor.executeCodeBlocks(CODE)
    expect(await place.told()).toEqual([
      "approval request",
      "approval decision",
      "policy-load",
      "code-run intent",
      "code-run done",
    ])
    const [, decision, policy, intent, done] = await place.records()
    expect(decision?.data).toMatchObject({ decision: "approved", by: "default rule 1" })
    expect(policy?.data["sha256"]).toBe(intent?.data["policySha256"])
    expect(done).toMatchObject({
      agent: "coder",
      run: place.governance.run,
      data: {
        blocks: [{ language: "python", sha256: sha256Of("print(1)") }],
        outputSha256: sha256Of("1\n"),
        exitCode: 0,
      },
    })
    expect(JSON.stringify(await place.records())).not.toContain("print(1)")
  })

  it("writes down which files are put before they are, by their hashes", async () => {
    await using place = await GovernedPlace.make()
    const put: InputFile[] = []
    const inner = Object.assign(new Telling(finished({})), {
      putFiles: async (files: readonly InputFile[]) => {
        expect(await place.told()).toEqual(["custom"])
        put.push(...files)
      },
    })
    const executor = place.governance.agent("coder").executor(inner)
    await executor.putFiles?.([{ path: "data/a.txt", content: Buffer.from(SECRET) }])
    expect(put.map(({ path }) => path)).toEqual(["data/a.txt"])
    const [record] = await place.records()
    const files = [{ path: "data/a.txt", size: SECRET.length, sha256: sha256Of(SECRET) }]
    expect(record).toMatchObject({ agent: "coder", data: { name: "files-put", detail: { count: 1, files } } })
    expect(JSON.stringify(record)).not.toContain(SECRET)
    const none = place.governance.agent("coder").executor(new Telling(finished({})))
    await expect(none.putFiles?.([])).rejects.toMatchObject({ code: "WORKSPACE_FAILED" })
  })

  it("keeps code and output where that is asked for", async () => {
    await using place = await GovernedPlace.make({ content: { code: true, output: true } })
    await place.governance
      .agent("coder")
      .executor(new Telling(finished({ output: "1\n" })))
      .executeCodeBlocks(CODE)
    const done = (await place.records()).at(-1)
    expect(done?.data).toMatchObject({ output: "1\n", blocks: [{ code: "print(1)" }] })
  })

  it("asks before what is wider than deny-all, and denies it where there is nobody to ask", async () => {
    await using place = await GovernedPlace.make()
    const inner = new Wide()
    const executor = place.governance.agent("coder").executor(inner)
    await expect(executor.executeCodeBlocks(CODE)).rejects.toMatchObject({ code: "APPROVAL_DENIED" })
    expect(inner.ran).toEqual([])
    expect(await place.told()).toEqual(["approval request", "approval decision"])
  })

  it("runs what was edited, and writes down both", async () => {
    const edited = { codeBlocks: [{ code: "print(2)", language: "python" }] }
    const approval: ApprovalGateOptions = {
      provider: () => ({ decision: "edit", payload: edited, by: "ada" }),
    }
    await using place = await GovernedPlace.make({ approval })
    const inner = new Wide("2\n")
    // The fake sandbox has no policy of its own to tell.
    await place.governance
      .agent("coder")
      .executor(inner)
      .executeCodeBlocks(CODE)
      .catch(() => {})
    expect(inner.ran).toEqual([edited.codeBlocks])
    const [request, decision, , intent] = await place.records()
    expect(request?.data["payload"]).toEqual({
      codeBlocks: [{ language: "python", sha256: sha256Of("print(1)") }],
    })
    expect(decision?.data).toMatchObject({ decision: "edited", by: "ada" })
    expect(intent?.data["blocks"]).toEqual([{ language: "python", sha256: sha256Of("print(2)") }])
  })

  it("does not run what it could not announce", async () => {
    await using place = await GovernedPlace.make({ approval: false })
    await place.governance.close()
    const inner = new FakeExecutor()
    await expect(
      place.governance.agent("coder").executor(inner).executeCodeBlocks(CODE),
    ).rejects.toMatchObject({ code: "AUDIT_LOG_CLOSED" })
    expect(inner.ran).toEqual([])
  })

  it("does not report what it could not record", async () => {
    await using place = await GovernedPlace.make({ approval: false })
    const closing = new (class extends Telling {
      override async *stream(blocks: readonly CodeBlock[]): ReturnType<FakeExecutor["stream"]> {
        await place.governance.close()
        yield* super.stream(blocks)
      }
    })(finished())
    await expect(
      place.governance.agent("coder").executor(closing).executeCodeBlocks(CODE),
    ).rejects.toMatchObject({ code: "AUDIT_OUTCOME_LOST" })
  })

  it("goes on without records where they are not required, and says so", async () => {
    const unrecorded: unknown[] = []
    await using place = await GovernedPlace.make({
      approval: false,
      auditRequired: false,
      onUnrecorded: (error) => unrecorded.push(error),
    })
    await place.governance.close()
    await place.governance.agent("coder").executor(new Telling(finished())).executeCodeBlocks(CODE)
    expect(unrecorded).toHaveLength(3)
  })

  it("writes down what code tried to reach, before its end is told", async () => {
    await using place = await GovernedPlace.make()
    const events = [{ type: "egress", ...connection("evil.example") } as const, finished()]
    await place.governance
      .agent("coder")
      .executor(new Telling(...events))
      .executeCodeBlocks(CODE)
    const told = await place.told()
    expect(told.slice(-3)).toEqual(["code-run intent", "egress denied", "code-run done"])
    const records = await place.records()
    expect(records.at(-2)?.data).toMatchObject({ host: "evil.example", id: records.at(-1)?.data["id"] })
  })

  it("writes down how a run failed, and that one was left", async () => {
    await using place = await GovernedPlace.make({ approval: false })
    const governor = place.governance.agent("coder")
    await expect(
      governor.executor(new FakeExecutor(new Error("broken"))).executeCodeBlocks(CODE),
    ).rejects.toThrow("broken")
    for await (const _ of governor
      .executor(new Telling(out("stdout", Buffer.from("a\n")), finished()))
      .stream(CODE))
      break
    const failed = (await place.records()).filter(({ data }) => data["phase"] === "failed")
    expect(failed.map(({ data }) => data["error"])).toEqual(["broken", "Nobody wanted the rest of the run."])
  })

  it("redacts what is printed, in pieces too, in the result and in the log", async () => {
    const redaction = new Redactor({ values: [SECRET], environment: false })
    await using place = await GovernedPlace.make({ redaction, content: { output: true, code: true } })
    const events = [
      out("stdout", Buffer.from(`key ${SECRET.slice(0, 9)}`)),
      out("stderr", Buffer.from("between\n")),
      out("stdout", Buffer.from(`${SECRET.slice(9)} end\n`)),
      finished({ output: `key ${SECRET} end\n`, stdout: SECRET, stderr: SECRET }),
    ]
    const executor = place.governance.agent("coder").executor(new Telling(...events))
    const told = await all(executor.stream([{ code: `print("${SECRET}")`, language: "python" }]))
    const text = told.map((event) => (event.type === "stdout" ? event.text : "")).join("")
    expect(text).toBe("key [redacted:secret] end\n")
    expect(JSON.stringify(told)).not.toContain(SECRET)
    expect((await place.folder.lines()).join("\n")).not.toContain(SECRET)
    expect((await place.records()).at(-1)?.data["output"]).toBe("key [redacted:secret] end\n")
  })

  it("redacts the secrets that the executor itself puts in for code", async () => {
    await using place = await GovernedPlace.make({ redaction: new Redactor({ environment: false }) })
    const inner = Object.assign(new Telling(finished({ output: `got ${SECRET}` })), {
      onSecret: (tell: (secret: KnownSecret) => void): Disposable => {
        tell({ name: "API_TOKEN", value: SECRET, placeholder: "placeholder" })
        return { [Symbol.dispose]: () => {} }
      },
    })
    const { output } = await place.governance.agent("coder").executor(inner).executeCodeBlocks(CODE)
    expect(output).toBe("got [redacted:API_TOKEN]")
  })

  it("passes on bytes that are no text as they are", async () => {
    await using place = await GovernedPlace.make()
    const bytes = Buffer.from([0x89, 0x50, 0xff, 0x00, 0xe2, 0x82])
    const executor = place.governance
      .agent("coder")
      .executor(new Telling(out("stdout", bytes), out("stdout", Buffer.from([0xac])), finished()))
    const told = await all(executor.stream(CODE))
    const printed = told.flatMap((event) => (event.type === "stdout" ? [event.bytes] : []))
    expect(Buffer.concat(printed)).toEqual(Buffer.concat([bytes, Buffer.from([0xac])]))
  })

  it("runs what was asked for, whatever becomes of the caller's list meanwhile", async () => {
    const blocks = [{ code: "print(1)", language: "python" }]
    const approval: ApprovalGateOptions = {
      provider: () => {
        blocks[0] = { code: "print('other')", language: "python" }
        return { decision: "approve" }
      },
    }
    await using place = await GovernedPlace.make({ approval })
    const inner = new Wide()
    await place.governance
      .agent("coder")
      .executor(inner)
      .executeCodeBlocks(blocks)
      .catch(() => {})
    expect(inner.ran).toEqual([CODE])
  })
})
