import { describe, expect, it } from "vitest"
import type { DisplayEvent } from "../execution-event.ts"
import { CallOutputs } from "./call-outputs.ts"
import type { RichMessage } from "./rich-message.ts"

function message(kind: RichMessage["kind"], content: unknown): RichMessage {
  const bytes = Buffer.from(JSON.stringify(content))
  return { kind, size: bytes.length, content: bytes }
}

function html(data: string, id?: string, kind: RichMessage["kind"] = "display_data"): RichMessage {
  return message(kind, { data: { "text/html": data }, transient: id === undefined ? {} : { display_id: id } })
}

function outputs(maxBytes: number, maxCount = 5): { call: CallOutputs; events: DisplayEvent[] } {
  const events: DisplayEvent[] = []
  return { call: new CallOutputs({ maxBytes, maxCount }, (event) => events.push(event)), events }
}

describe("CallOutputs", () => {
  it("small updates come through however many there are, to the last", () => {
    const { call, events } = outputs(1024)
    call.take(html("0", "bar"))
    const notes = Array.from({ length: 12_000 }, (_, step) =>
      call.take(html(String(step + 1), "bar", "update_display_data")),
    )
    expect(new Set(notes)).toEqual(new Set([""]))
    expect(events).toHaveLength(12_001)
    expect(call.endBlock(0)).toMatchObject([{ data: "12000" }])
  })

  it("of large ones only so much is read, and the last in any case", () => {
    const { call, events } = outputs(100_000)
    const frame = (step: number): string => `${step} ${"x".repeat(90_000)}`
    call.take(html(frame(0), "film"))
    const notes = Array.from({ length: 50 }, (_, step) =>
      call.take(html(frame(step + 1), "film", "update_display_data")),
    )
    expect(events.length).toBeLessThan(20)
    expect(notes.filter((note) => note !== "")).toEqual([
      "[glovebox: left out outputs between others: there were too many that are large]\n",
    ])
    expect(call.endBlock(0)).toMatchObject([{ data: expect.stringMatching(/^50 x/) }])
    expect(events.at(-1)).toMatchObject({ action: "update", outputs: [{ data: expect.any(String) }] })
  })

  it("notes what was left out once for each block; text alone was printed, and needs none", () => {
    const { call } = outputs(1024, 1)
    const text = message("execute_result", { data: { "text/plain": "'x'" } })
    expect([call.take(text), call.take(text)]).toEqual(["", ""])
    expect(call.take(html("x"))).toBe("[glovebox: left out an output: richOutput.maxCount is reached]\n")
    expect(call.take(html("x"))).toBe("")
    call.beginBlock(1)
    expect(call.take(html("x"))).not.toBe("")
    const dropped: RichMessage = { kind: "display_data", size: 2048, content: undefined }
    expect(call.take(dropped)).toBe("[glovebox: left out an output of 2 KiB: richOutput.maxBytes is less]\n")
  })
})
