import { setImmediate } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { GloveboxError } from "../../core/index.ts"
import { DEFAULT_LANGUAGES } from "../languages.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { type CallEnd, runCall } from "../sandbox/call.ts"
import type { PlannedBlock } from "../sandbox/plan-blocks.ts"
import type { RunEnd, RunRequest, SandboxAgent } from "../sandbox/sandbox-agent.ts"
import { KernelAgent } from "./kernel-agent.ts"

const LIMITS = { ...new SandboxPolicy().fields.limits, wall: 50 }
const DIED: RunEnd = { code: 0, signal: null, limits: [], kernel: { number: 1, alive: false } }
const STARTED: RunEnd = { code: 0, signal: null, limits: [], kernel: { number: 2, alive: true } }

function block(file: string): PlannedBlock {
  return {
    tag: "python",
    language: DEFAULT_LANGUAGES[0]!,
    argv: ["python3", file],
    file,
    content: Buffer.from(""),
    named: false,
  }
}

/** An agent whose kernel ends with its first cell; what it is asked next is answered by the test. */
class DyingAgent {
  readonly asked: string[] = []
  readonly gone = new AbortController()
  readonly lost = this.gone.signal
  readonly programs = {}
  readonly hasReadyInterpreter = false
  readonly facts = {}
  readonly starts: ((end: RunEnd | Error) => void)[] = []
  readonly #cells = [DIED, STARTED]

  async put(): Promise<void> {
    this.asked.push("put")
    this.lost.throwIfAborted()
  }

  async run({ how }: RunRequest): Promise<RunEnd> {
    this.asked.push(how)
    if (how !== "kernel") return this.#cells.shift() ?? STARTED
    return new Promise((resolve, reject) => {
      this.starts.push((end) => (end instanceof Error ? reject(end) : resolve(end)))
    })
  }

  kill(): void {
    this.asked.push("kill")
  }

  remove(): void {}
  resume(): void {}
  async whenIdle(): Promise<void> {
    return new Promise(() => {})
  }
}

interface Scene {
  readonly inner: DyingAgent
  readonly agent: KernelAgent
  readonly heard: string[]
  readonly call: (signal?: AbortSignal) => Promise<CallEnd>
}

function scene(): Scene {
  const inner = new DyingAgent()
  const heard: string[] = []
  const observer = {
    launched: () => {},
    showed: () => "",
    counted: () => {},
    lost: () => heard.push("lost"),
    unusable: () => heard.push("unusable"),
  }
  const agent = new KernelAgent(inner as unknown as SandboxAgent, { observer, number: 1, richBytes: 1024 })
  const call = async (signal = new AbortController().signal): Promise<CallEnd> =>
    runCall({
      agent,
      limits: LIMITS,
      blocks: [block("a.py"), block("b.py")],
      prefersReady: false,
      files: [],
      gone: [],
      onPut: () => {},
      carry: undefined,
      deletesCodeFiles: false,
      ranOutOfMemory: async () => false,
      onEvent: (event) => heard.push(event.type),
      signal,
    })
  return { inner, agent, heard, call }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate()
}

describe("KernelAgent, while a kernel starts within a call", () => {
  const unhandled: unknown[] = []
  const listen = (reason: unknown): void => void unhandled.push(reason)
  beforeEach(() => {
    unhandled.length = 0
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    process.on("unhandledRejection", listen)
  })
  afterEach(() => {
    process.off("unhandledRejection", listen)
    vi.useRealTimers()
  })

  it("the next block has not begun, nor has its time", async () => {
    const { inner, heard, call } = scene()
    const calling = call()
    await until(() => inner.starts.length === 1)
    // Longer than the block has.
    vi.advanceTimersByTime(10 * LIMITS.wall)
    expect(heard).toEqual(["block-started", "lost", "block-finished"])
    expect(inner.asked).toEqual(["put", "put", "cell", "kernel"])
    inner.starts[0]?.(STARTED)
    expect((await calling).blocks.map(({ termination }) => termination)).toEqual(["exit", "exit"])
    expect(inner.asked).toEqual(["put", "put", "cell", "kernel", "put", "cell"])
  })

  it("an abort rejects at once, and the next call waits for the same kernel", async () => {
    const { inner, agent, heard, call } = scene()
    const controller = new AbortController()
    const calling = call(controller.signal)
    await until(() => inner.starts.length === 1)
    const reason = new Error("enough")
    controller.abort(reason)
    await expect(calling).rejects.toBe(reason)
    await agent.whenIdle()
    const next = call()
    await setImmediate()
    inner.starts[0]?.(STARTED)
    expect((await next).blocks).toHaveLength(2)
    expect(inner.asked.filter((how) => how === "kernel")).toHaveLength(1)
    expect(heard).not.toContain("unusable")
  })

  it("a start that fails is the call's error, and nobody else's", async () => {
    for (const [end, isUnusable] of [
      [{ ...DIED, code: 1 }, true],
      [{ ...DIED, code: null, signal: 9 }, false],
      [new GloveboxError("SANDBOX_LOST", "gone"), false],
    ] as const) {
      const { inner, heard, call } = scene()
      const calling = call()
      await until(() => inner.starts.length === 1)
      inner.starts[0]?.(end)
      const error: unknown = await calling.catch((thrown: unknown) => thrown)
      expect(GloveboxError.is(error, "SANDBOX_LOST")).toBe(true)
      expect(heard.includes("unusable")).toBe(isUnusable)
    }
    await setImmediate()
    expect(unhandled).toEqual([])
  })

  it("a file that cannot be put is told by the run, and by nothing else", async () => {
    const { inner, call } = scene()
    const put = inner.put.bind(inner)
    inner.put = async () => {
      const isCode = inner.asked.includes("put")
      await put()
      if (isCode) throw new Error("the line is gone")
    }
    const calling = call()
    await until(() => inner.starts.length === 1)
    inner.starts[0]?.(STARTED)
    await calling
    await setImmediate()
    expect(unhandled).toEqual([])
  })
})
