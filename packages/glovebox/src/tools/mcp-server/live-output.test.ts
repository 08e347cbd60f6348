import { describe, expect, it } from "vitest"
import { LiveOutput } from "./live-output.ts"

describe("LiveOutput", () => {
  it("gathers what comes at once, in order, and sends what is left at the end", async () => {
    const sent: string[] = []
    const live = new LiveOutput(async (text) => void sent.push(text))
    for (let n = 0; n < 100; n += 1) live.push({ text: `${n} ` })
    await live.end()
    expect(sent.join("")).toBe(Array.from({ length: 100 }, (_, n) => `${n} `).join(""))
    expect(sent).toHaveLength(1)
    await live.end()
    expect(sent).toHaveLength(1)
  })

  it("sends while the code runs", async () => {
    const sent: string[] = []
    const live = new LiveOutput(async (text) => void sent.push(text))
    live.push({ text: "first" })
    await expect.poll(() => sent).toEqual(["first"])
    await live.end()
  })

  it("shows the end of a flood, and survives a reader who has gone", async () => {
    const sent: string[] = []
    const live = new LiveOutput(async (text) => {
      sent.push(text)
      throw new Error("gone")
    })
    live.push({ text: "x".repeat(100_000) })
    live.push({ text: "end" })
    await live.end()
    expect(sent[0]).toHaveLength(4_096)
    expect(sent[0]).toMatch(/^…x+end$/)
  })
})
