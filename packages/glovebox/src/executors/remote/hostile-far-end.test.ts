import { randomUUID } from "node:crypto"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { ClosureAgent, type Message, type MessageContext } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import type { Artifact } from "../code-result.ts"
import { writeFrame } from "./frame.ts"
import {
  CHUNK_BYTES,
  ExecutorAck,
  ExecutorCancel,
  ExecutorChunk,
  ExecutorControl,
  ExecutorRead,
  ExecutorRun,
  ExecutorState,
} from "./messages.ts"
import { RemoteCodeExecutor } from "./remote-code-executor.ts"
import type { RemoteCodeExecutorOptions } from "./remote-options.ts"
import { BLOCK, RecordedRuntime, artifact, finished } from "./remote.test-kit.ts"
import { EventWriter } from "./write-event.ts"

type Description = NonNullable<Parameters<typeof ExecutorState>[0]["description"]>
const HONEST: Description = {
  kind: "docker",
  runsOnHost: false,
  policy: "",
  beyondPolicy: [],
  functions: "",
}

interface Lies {
  readonly description?: Partial<Description>
  /** What is answered to the n-th request for a chunk. */
  readonly chunk?: (seq: number, instance: string) => Message
  readonly isNew?: boolean
  /** Never answers when it is told to stop. */
  readonly isDeaf?: boolean
}

/** A client of a far end that answers what the test says. */
async function clientOf(
  { description, chunk, isNew = false, isDeaf = false }: Lies,
  options: Partial<RemoteCodeExecutorOptions> = {},
): Promise<RemoteCodeExecutor> {
  const runtime = new RecordedRuntime()
  onTestFinished(() => runtime.inner.close())
  const known = randomUUID()
  const instance = (): string => (isNew ? randomUUID() : known)
  const types = [ExecutorControl, ExecutorRun, ExecutorRead, ExecutorCancel] as const
  const answer = async (message: Message, { signal }: MessageContext): Promise<Message> => {
    if (ExecutorControl.is(message)) {
      if (isDeaf && message.action === "stop") await abortable(new Promise(() => {}), signal)
      return ExecutorState({
        done: true,
        instance: instance(),
        description: { ...HONEST, ...description },
      })
    }
    if (ExecutorCancel.is(message)) return ExecutorAck({ instance: known })
    const seq = ExecutorRead.is(message) ? message.seq : 0
    return chunk?.(seq, instance()) ?? ExecutorChunk({ seq, data: "", end: true, instance: instance() })
  }
  await runtime.register("executor", () => new ClosureAgent(types, answer))
  return new RemoteCodeExecutor({ runtime, ...options })
}

interface Sent {
  readonly head: unknown
  readonly blobs?: readonly Uint8Array[]
}

function bytes(...frames: readonly Sent[]): string {
  const parts = frames.flatMap(({ head, blobs = [] }) => writeFrame({ head, blobs }))
  return Buffer.concat(parts).toString("base64")
}

/** A run of these frames, in as few chunks as may be. */
function chunked(...frames: readonly Sent[]): Lies["chunk"] {
  const all = Buffer.from(bytes(...frames), "base64")
  return (seq, instance) => {
    const [from, to] = [seq * CHUNK_BYTES, (seq + 1) * CHUNK_BYTES]
    const data = all.subarray(from, to).toString("base64")
    return ExecutorChunk({ seq, data, end: to >= all.length, instance })
  }
}

const END = new EventWriter("none").write(finished())[0]!

function file(told: Partial<Artifact>, content = "x"): Sent {
  const { content: blob, ...rest } = artifact("a.txt", content)
  return { head: { type: "file", artifact: { ...rest, ...told } }, blobs: [blob] }
}

describe("a far end cannot", () => {
  it.each([
    ["a path out of the workspace", file({ path: "../../.bashrc" })],
    ["an absolute path", file({ path: "/etc/cron.d/x" })],
    ["a path of Glovebox's own", file({ path: ".glovebox/audit.jsonl" })],
    ["another hash", file({ sha256: "0".repeat(64) })],
    ["another size", file({ size: 2 })],
    ["no content", { head: file({}).head }],
  ])("give a file with %s", async (_what, frame) => {
    const executor = await clientOf({ chunk: chunked(frame, END) })
    await expectFailure(executor.executeCodeBlocks([BLOCK]), "REPLY_INVALID")
  })

  it.each<[string, readonly Sent[]]>([
    ["a file twice", [file({}), file({}), END]],
    ["a block that was not sent", [{ head: { type: "stdout", block: 1 }, blobs: [Buffer.from("x")] }, END]],
    ["something after the end", [END, { head: { type: "started", blocks: 1 } }]],
    ["two ends", [END, END]],
    ["no end", [{ head: { type: "started", blocks: 1 } }]],
    ["an event that nobody knows", [{ head: { type: "eval", code: "1" } }, END]],
    ["a result with a file that did not come", [new EventWriter("none").finished(resultWith())[1]!]],
  ])("tell of %s", async (_what, frames) => {
    const executor = await clientOf({ chunk: chunked(...frames) })
    await expectFailure(executor.executeCodeBlocks([BLOCK]), "REPLY_INVALID")
  })

  it("send what is no frame", async () => {
    for (const data of ["AAAA", Buffer.from("\0\0\0\u0002\0\0\0\0{]").toString("base64")]) {
      const executor = await clientOf({
        chunk: (seq, instance) => ExecutorChunk({ seq, data, end: true, instance }),
      })
      await expectFailure(executor.executeCodeBlocks([BLOCK]), "REPLY_INVALID")
    }
  })

  it("fill the memory with what is wrong with what it sends, however small that is", async () => {
    const zeros = Array.from({ length: 300_001 }, () => 0)
    const result = { ...(END.head as { result: object }).result, blocks: zeros }
    const wrong = await clientOf({ chunk: chunked({ head: { type: "finished", result } }) })
    await expectFailure(wrong.executeCodeBlocks([BLOCK]), "REPLY_INVALID", /more than anybody/)
    const blobs = zeros.slice(0, 10_001).map(() => Buffer.alloc(0))
    const empty = await clientOf({ chunk: chunked({ ...END, blobs }) })
    await expectFailure(empty.executeCodeBlocks([BLOCK]), "REPLY_INVALID", /no frame/)
  })

  it("send chunks out of order", async () => {
    const executor = await clientOf({
      chunk: (seq, instance) => ExecutorChunk({ seq: seq * 2, data: "", end: false, instance }),
    })
    await expectFailure(executor.executeCodeBlocks([BLOCK]), "REPLY_INVALID", /order/)
  })

  it("make the client hold more than it wants to, by one file, many, or one that never ends", async () => {
    const announced = Buffer.alloc(8)
    announced.writeUInt32BE(2 ** 31, 4)
    let asked = 0
    const endless: Lies["chunk"] = (seq, instance) => {
      asked += 1
      const data = bytes(file({ path: `f${seq}` }, "x".repeat(400)))
      return ExecutorChunk({ seq, data, end: false, instance })
    }
    for (const chunk of [
      chunked(file({}, "x".repeat(2000)), END),
      endless,
      (seq: number, instance: string) =>
        ExecutorChunk({ seq, data: announced.toString("base64"), end: false, instance }),
    ]) {
      const executor = await clientOf({ chunk }, { maxResultBytes: 1500 })
      await expectFailure(executor.executeCodeBlocks([BLOCK]), "MESSAGE_TOO_LARGE")
    }
    expect(asked).toBeLessThan(5)
  })

  it("say that it has another policy than it has", async () => {
    const policy = JSON.stringify(new SandboxPolicy())
    const wrong = await clientOf({ description: { policy, policySha256: "0".repeat(64) } })
    await expectFailure(wrong.start(), "REPLY_INVALID", /policy/)
    const none = await clientOf({ description: { policy: "{}}", policySha256: "0".repeat(64) } })
    await expectFailure(none.start(), "REPLY_INVALID", /policy/)
  })

  it("have the code sent to ever new executors", async () => {
    const executor = await clientOf({ isNew: true })
    await expectFailure(executor.executeCodeBlocks([BLOCK]), "SANDBOX_LOST", /another one each time/)
  })

  it("hold up a client that wants to stop", async () => {
    const executor = await clientOf({ isDeaf: true }, { replyTimeoutMs: 3_600_000 })
    await executor.start()
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const stopping = executor.stop()
    await vi.advanceTimersByTimeAsync(5_000)
    await stopping
    await expectFailure(executor.executeCodeBlocks([BLOCK]), "EXECUTOR_STOPPED")
  })

  it("bring a prototype along", async () => {
    const result = JSON.parse(JSON.stringify(END.head)) as { result: { sandbox: { effective: object } } }
    result.result.sandbox.effective = JSON.parse('{"__proto__":{"polluted":true},"a":1}') as object
    const executor = await clientOf({ chunk: chunked({ head: result }) })
    const { sandbox } = await executor.executeCodeBlocks([BLOCK])
    expect((sandbox.effective as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

function resultWith(): Parameters<EventWriter["finished"]>[0] {
  const event = finished({ artifacts: [artifact("a.txt", "x")] })
  if (event.type !== "finished") throw new Error("not the end")
  return event.result
}
