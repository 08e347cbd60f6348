import { PassThrough, Writable } from "node:stream"
import { afterEach, describe, expect, it, vi } from "vitest"
import { Redactor } from "../governance/index.ts"
import { OutputPipe } from "./output-pipe.ts"
import { OutputRedaction } from "./output-redaction.ts"
import { ProgressLine, pullReporter } from "./progress-line.ts"

afterEach(() => {
  vi.unstubAllEnvs()
})

const terminal = (): PassThrough & { isTTY: true } =>
  Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY: true } as const)

describe("OutputPipe", () => {
  it("waits for a slow reader", async () => {
    const stream = new PassThrough({ highWaterMark: 4 })
    const pipe = new OutputPipe(stream)
    let isWritten = false
    const writing = pipe.write("12345").then(() => (isWritten = true))
    await new Promise(setImmediate)
    expect(isWritten).toBe(false)
    stream.read()
    await writing
    expect(isWritten).toBe(true)
  })

  it("stops waiting when it is told to, or when the reader leaves", async () => {
    const stream = new PassThrough({ highWaterMark: 4 })
    const pipe = new OutputPipe(stream)
    const aborted = new AbortController()
    const writing = pipe.write("12345", aborted.signal)
    aborted.abort(new Error("enough"))
    await expect(writing).rejects.toThrow("enough")
    const next = pipe.write("12345")
    stream.destroy(new Error("EPIPE"))
    await expect(next).resolves.toBeUndefined()
  })

  it("lets no secret pass, in whatever way it is written, and colours stay", async () => {
    const key = "sk-live-0123456789abcdefghij"
    const redaction = new OutputRedaction()
    redaction.use(new Redactor({ variables: { MY_KEY: key } }))
    const stream = terminal()
    const pipe = new OutputPipe(stream, redaction)
    pipe.put(`\r\u001B[2K\u001B[31mput ${key}\u001B[39m\n`)
    await pipe.write(`write ${key}\n`)
    await pipe.writeWords(`words ${key}\n`)
    await pipe.writeJson({ key: `a "${key}"`, sha256: "ab".repeat(32) })
    const drawn = pipe.cleanStream
    drawn.write(`drawn ${key}\n`)
    expect([drawn.isTTY, drawn.writable]).toEqual([true, true])
    expect(String(stream.read())).toBe(
      [
        "\r\u001B[2K\u001B[31mput [redacted:MY_KEY]\u001B[39m",
        "write [redacted:MY_KEY]",
        "words [redacted:MY_KEY]",
        JSON.stringify({ key: 'a "[redacted:MY_KEY]"', sha256: "ab".repeat(32) }),
        "drawn [redacted:MY_KEY]",
        "",
      ].join("\n"),
    )
  })

  it("outlives a reader that leaves, and tells of it", async () => {
    const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error("EPIPE")) })
    const pipe = new OutputPipe(broken)
    pipe.put("x")
    await vi.waitFor(() => expect(pipe.gone.aborted).toBe(true))
    pipe.put("y")
    await pipe.write("z")
    expect(pipe.gone.reason).toMatchObject({ message: "EPIPE" })
  })

  it("has colours only on a terminal, and not with NO_COLOR", () => {
    vi.stubEnv("TERM", "xterm")
    vi.stubEnv("NO_COLOR", "")
    expect(new OutputPipe(terminal()).style("red", "x")).toBe("\u001B[31mx\u001B[39m")
    expect(new OutputPipe(new PassThrough()).style("red", "x")).toBe("x")
    vi.stubEnv("NO_COLOR", "1")
    expect(new OutputPipe(terminal()).style("red", "x")).toBe("x")
  })
})

describe("ProgressLine", () => {
  it("replaces and erases its line on a terminal", () => {
    vi.stubEnv("TERM", "xterm")
    vi.stubEnv("NO_COLOR", "1")
    const stream = terminal()
    const progress = new ProgressLine(new OutputPipe(stream))
    progress.show("one")
    progress.show("one")
    progress.show("two")
    progress.clear()
    progress.clear()
    expect(stream.read()).toBe("\r\u001B[2Kone ...\r\u001B[2Ktwo ...\r\u001B[2K")
  })

  it("says nothing elsewhere", () => {
    const stream = new PassThrough()
    using progress = new ProgressLine(new OutputPipe(stream))
    progress.show("one")
    expect(stream.read()).toBeNull()
  })
})

describe("pullReporter", () => {
  it("adds up the layers", () => {
    const report = pullReporter()
    const image = "python:3-slim"
    expect(report({ image, status: "Pulling from library/python" })).toBe("pulling python:3-slim")
    expect(report({ image, layer: "a", status: "Downloading", current: 10, total: 50 })).toMatch(/ 20%$/)
    expect(report({ image, layer: "b", status: "Downloading", current: 15, total: 50 })).toMatch(/ 25%$/)
    expect(report({ image, layer: "a", status: "Pull complete" })).toMatch(/ 65%$/)
    expect(report({ image, layer: "c", status: "Already exists" })).toMatch(/ 65%$/)
    expect(report({ image, status: "Status: Downloaded newer image" })).toBe("starting the sandbox")
  })
})
