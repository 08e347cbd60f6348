import { PassThrough, Readable } from "node:stream"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { type TerminalInputOptions, terminalInput } from "./terminal-input.ts"

function asker(options: TerminalInputOptions): (signal?: AbortSignal) => Promise<string> {
  const input = terminalInput(options)
  return async (signal = new AbortController().signal) =>
    input({ prompt: "? ", requestId: "1", agent: "user", messages: [], signal })
}

/** A terminal: what is typed into it, what it shows, and whether it is raw. */
class FakeTerminal extends PassThrough {
  readonly isTTY = true
  isRaw = false

  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw
    return this
  }
}

describe("terminalInput", () => {
  it("reads one line at a time from a pipe, and loses none", async () => {
    const ask = asker({
      input: Readable.from([Buffer.from("one\r\ntwo\nth"), Buffer.from("r\u00e9e\nlast")]),
    })
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual(["one", "two", "thr\u00e9e", "last"])
    await expectFailure(ask(), "INPUT_ENDED", /the input has ended/)
  })

  it("reads a character whose bytes come apart", async () => {
    const bytes = Buffer.from("\u20ac\n")
    const ask = asker({
      input: Readable.from([bytes.subarray(0, 1), bytes.subarray(1)], { objectMode: false }),
    })
    expect(await ask()).toBe("\u20ac")
  })

  it("gives up when asked to, and leaves the rest of the line to the next question", async () => {
    const input = new PassThrough()
    const ask = asker({ input })
    const controller = new AbortController()
    const reason = new Error("enough")
    input.write("be")
    const first = ask(controller.signal)
    // Once it has taken what was there, it waits for the rest of the line.
    while (input.readableLength > 0) await new Promise((resolve) => setImmediate(resolve))
    controller.abort(reason)
    await expect(first).rejects.toBe(reason)
    input.write("gun\n")
    expect(await ask()).toBe("begun")
    expect(input.listenerCount("data") + input.listenerCount("error")).toBe(0)
  })

  it("loses no line that comes after a question was withdrawn and another one asked at once", async () => {
    const input = new PassThrough()
    const ask = asker({ input })
    const controller = new AbortController()
    const withdrawn = ask(controller.signal)
    await new Promise((resolve) => setImmediate(resolve))
    controller.abort(new Error("enough"))
    await expect(withdrawn).rejects.toThrow("enough")
    const next = ask()
    await new Promise((resolve) => setImmediate(resolve))
    input.write("late\n")
    input.write("next\n")
    expect([await next, await ask()]).toEqual(["late", "next"])
  })

  it("tells of an input that fails", async () => {
    const input = new PassThrough()
    const answer = asker({ input })()
    await new Promise((resolve) => setImmediate(resolve))
    input.destroy(new Error("cable cut"))
    await expect(answer).rejects.toThrow("cable cut")
  })

  it("asks one question after another", async () => {
    const input = new PassThrough()
    const [first, second] = [asker({ input })(), asker({ input })()]
    input.write("1\n2\n")
    expect([await first, await second]).toEqual(["1", "2"])
  })

  it("asks at a terminal, and gives it back as it was", async () => {
    const input = new FakeTerminal()
    const output = new PassThrough()
    const answer = asker({ input, output })()
    await new Promise((resolve) => output.once("data", resolve))
    expect(input.isRaw).toBe(true)
    input.write("yes\r")
    expect(await answer).toBe("yes")
    expect([input.isRaw, input.listenerCount("keypress")]).toEqual([false, 0])
  })

  it("gives a terminal back when the question is withdrawn, and when its input ends", async () => {
    const input = new FakeTerminal()
    const output = new PassThrough().resume()
    const controller = new AbortController()
    const reason = new Error("enough")
    const withdrawn = asker({ input, output })(controller.signal)
    await new Promise((resolve) => output.once("data", resolve))
    controller.abort(reason)
    const shown: unknown[] = []
    output.on("data", (chunk) => shown.push(String(chunk)))
    await expect(withdrawn).rejects.toBe(reason)
    expect(input.isRaw).toBe(false)
    await new Promise((resolve) => setImmediate(resolve))
    // What comes next begins a line of its own.
    expect(shown.at(-1)).toBe("\n")
    const ended = asker({ input, output })()
    await new Promise((resolve) => output.once("data", resolve))
    // Ctrl+D.
    input.write("\u0004")
    await expectFailure(ended, "INPUT_ENDED")
    expect(input.isRaw).toBe(false)
  })
})
