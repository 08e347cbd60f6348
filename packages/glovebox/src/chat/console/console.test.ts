import { PassThrough, Writable } from "node:stream"
import { afterEach, describe, expect, expectTypeOf, it, vi } from "vitest"
import {
  type ChatItem,
  ModelClientStreamingChunkEvent,
  MultiModalMessage,
  ThoughtEvent,
} from "../messages/index.ts"
import { type Response, type TaskResult, response } from "../task/index.ts"
import { Paper, lines, say, streamOf, taskResult, withoutColors } from "./console.test-kit.ts"
import { Console } from "./index.ts"

afterEach(() => {
  vi.unstubAllEnvs()
})

/** A stream without end; it counts what it yields, and tells when it is left. */
function endless(): {
  readonly stream: AsyncGenerator<ChatItem | TaskResult>
  count: number
  left: Promise<void>
} {
  const state = { count: 0 }
  let leave: () => void
  const left = new Promise<void>((resolve) => (leave = resolve))
  async function* generate(): AsyncGenerator<ChatItem | TaskResult> {
    try {
      for (;;) {
        state.count += 1
        yield await Promise.resolve(say(`${state.count} ${"x".repeat(1000)}`))
      }
    } finally {
      leave()
    }
  }
  return Object.assign(state, { stream: generate(), left })
}

describe("Console", () => {
  it("gives the result of a run, and tells why it ended", async () => {
    const output = new Paper()
    const result = taskResult([say("Hi")])
    const given = await Console(streamOf<ChatItem | TaskResult>(say("Hi"), result), { output })
    expectTypeOf(given).toEqualTypeOf<TaskResult>()
    expect(given).toBe(result)
    expect(output.text).toBe(lines("writer (TextMessage)", "  Hi", "= stopped (answer): writer answered."))
  })

  it("tells what a run waits for, also at a terminal", async () => {
    const waits = {
      stopKind: "suspended",
      stopReason: "clerk waits for approval 17.",
      pending: ["17"],
    } as const
    const stream = (): AsyncIterable<ChatItem | TaskResult> =>
      streamOf<ChatItem | TaskResult>({ ...taskResult([]), ...waits })
    const [plain, drawn] = [new Paper(), new Paper()]
    expect(await Console(stream(), { output: plain })).toMatchObject(waits)
    await Console(stream(), { output: drawn, colors: true, outputStats: false })
    expect(plain.text).toBe("= stopped (suspended): clerk waits for approval 17.\n")
    expect(withoutColors(drawn.text)).toBe("\nWaiting: clerk waits for approval 17.\n")
  })

  it("gives the response of an agent, and shows what it says", async () => {
    const output = new Paper()
    const thought = ThoughtEvent({ content: "hm", source: "writer" })
    const answer = response(say("Hi"), [thought])
    const given = await Console(streamOf<ChatItem | Response>(thought, answer), { output })
    expectTypeOf(given).toEqualTypeOf<Response>()
    expect(given).toBe(answer)
    expect(output.text).toBe(lines("writer (ThoughtEvent)", "  hm", "writer (TextMessage)", "  Hi"))
  })

  it("tells what was used at a terminal, or when it is asked to", async () => {
    const output = new Paper()
    const result = taskResult([say("Hi")])
    await Console(streamOf<ChatItem | TaskResult>(result), { output, colors: true })
    expect(withoutColors(output.text)).toMatch(
      /^\nStopped: writer answered\.\n1 message · 1,200 \+ 34 tokens · \d+ ms\n$/,
    )
    const plain = new Paper()
    await Console(streamOf<ChatItem | TaskResult>(result), { output: plain, outputStats: true })
    expect(plain.text).toMatch(/^= messages 1, prompt tokens 1200, completion tokens 34, seconds \d\.\d{3}$/m)
  })

  it("has colours only at a terminal, and not with NO_COLOR", async () => {
    const write = async (isTTY: boolean): Promise<string> => {
      const output = Object.assign(new Paper(), { isTTY })
      await Console(streamOf<ChatItem | TaskResult>(say("**Hi**"), taskResult()), { output })
      return output.text
    }
    vi.stubEnv("TERM", "xterm")
    vi.stubEnv("NO_COLOR", "")
    expect(await write(true)).toContain("\u001B[1mHi\u001B[22m")
    expect(await write(false)).toContain("  **Hi**\n")
    vi.stubEnv("NO_COLOR", "1")
    expect(await write(true)).toBe(await write(false))
    vi.stubEnv("NO_COLOR", "")
    vi.stubEnv("TERM", "dumb")
    expect(await write(true)).toBe(await write(false))
  })

  it("shows images where a terminal can, unless it is told not to", async () => {
    vi.stubEnv("TERM", "xterm")
    vi.stubEnv("NO_COLOR", "")
    vi.stubEnv("TERM_PROGRAM", "iTerm.app")
    const image = { type: "Image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const
    const message = MultiModalMessage({ content: [image], source: "writer" })
    const write = async (noInlineImages: boolean): Promise<string> => {
      const output = Object.assign(new Paper(), { isTTY: true })
      await Console(streamOf<ChatItem | TaskResult>(message, taskResult()), { output, noInlineImages })
      return output.text
    }
    expect(await write(false)).toContain("\u001B]1337;File=inline=1:iVBORw0KGgo=\u0007\n")
    expect(await write(true)).not.toContain("1337")
  })

  it("writes what is streamed while it is streamed", async () => {
    const output = new Paper()
    const seen: string[] = []
    async function* talk(): AsyncGenerator<ChatItem | TaskResult> {
      for (const content of ["Hello ", "my ", "world"]) {
        yield ModelClientStreamingChunkEvent({ content, source: "writer" })
        seen.push(withoutColors(output.text).replace("\n writer  says\n", ""))
      }
      yield await Promise.resolve(taskResult())
    }
    await Console(talk(), { output, colors: true })
    expect(seen).toEqual(["", "Hello my ", "Hello my "])
  })

  it("passes the error of a run on, after what was said before it", async () => {
    const output = new Paper()
    const boom = new Error("boom")
    async function* failing(): AsyncGenerator<ChatItem | TaskResult> {
      yield await Promise.resolve(ModelClientStreamingChunkEvent({ content: "Hello", source: "writer" }))
      throw boom
    }
    await expect(Console(failing(), { output, colors: true })).rejects.toBe(boom)
    expect(withoutColors(output.text)).toBe(lines("", " writer  says", "Hello"))
  })

  it("refuses a stream without a result, and what is no stream", async () => {
    const output = new Paper()
    await expect(Console(streamOf<ChatItem | TaskResult>(say("Hi")), { output })).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining("without a TaskResult or a Response"),
    })
    await expect(Console(Promise.resolve(taskResult()) as never, { output })).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining("Pass team.runStream"),
    })
    await expect(
      Console(streamOf<ChatItem | TaskResult>(), { output, color: true } as never),
    ).rejects.toMatchObject({ message: expect.stringContaining("did you mean colors?") })
  })
})

describe("Console and whoever reads its output", () => {
  it("waits for a slow reader", async () => {
    const output = new PassThrough({ highWaterMark: 100 })
    const run = endless()
    const showing = Console(run.stream, { output })
    await vi.waitFor(() => expect(run.count).toBe(1))
    await new Promise(setImmediate)
    expect(run.count).toBe(1)
    output.read()
    await vi.waitFor(() => expect(run.count).toBe(2))
    output.destroy()
    await expect(showing).rejects.toMatchObject({ code: "RUN_LEFT" })
  })

  it("ends the run when the reader leaves, and says so", async () => {
    const epipe = Object.assign(new Error("write EPIPE"), { code: "EPIPE" })
    const output = new Writable({ write: (_chunk, _encoding, done) => done(epipe) })
    const run = endless()
    await expect(Console(run.stream, { output })).rejects.toMatchObject({ code: "RUN_LEFT", cause: epipe })
    await run.left
  })

  it("settles when the reader leaves while the run is in the middle of something", async () => {
    const output = new PassThrough()
    async function* silent(): AsyncGenerator<ChatItem | TaskResult> {
      yield say("Hi")
      await new Promise(() => {})
    }
    const showing = Console(silent(), { output })
    await vi.waitFor(() => expect(output.readableLength).toBeGreaterThan(0))
    output.destroy()
    await expect(showing).rejects.toMatchObject({ code: "RUN_LEFT" })
  })

  it("does not begin a run that nobody can see", async () => {
    const output = new PassThrough()
    output.end()
    const run = endless()
    await expect(Console(run.stream, { output })).rejects.toMatchObject({ code: "RUN_LEFT" })
    expect(run.count).toBe(0)
  })

  it("gives the result also when the reader leaves at the end", async () => {
    const result = taskResult()
    const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error("EPIPE")) })
    expect(await Console(streamOf<ChatItem | TaskResult>(result), { output })).toBe(result)
  })

  it.each([
    ["a reader that does not read", async (): Promise<void> => {}],
    ["a run that says nothing", async (): Promise<void> => new Promise(() => {})],
  ])("stops when its signal does, with %s", async (_, wait) => {
    const stop = new AbortController()
    const output = new PassThrough({ highWaterMark: 1 })
    async function* talk(): AsyncGenerator<ChatItem | TaskResult> {
      await wait()
      yield say("Hi")
      yield taskResult()
    }
    const showing = Console(talk(), { output, signal: stop.signal })
    await new Promise(setImmediate)
    stop.abort(new Error("enough"))
    await expect(showing).rejects.toThrow("enough")
  })

  it("leaves no listener on the stream", async () => {
    const output = new Paper()
    await Console(streamOf<ChatItem | TaskResult>(say("Hi"), taskResult()), { output })
    await vi.waitFor(() =>
      expect([output.listenerCount("error"), output.listenerCount("close")]).toEqual([0, 0]),
    )
  })
})
