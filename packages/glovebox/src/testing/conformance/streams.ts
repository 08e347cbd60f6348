import assert from "node:assert/strict"
import type { ExecutionEvent } from "../../executors/index.ts"
import { eventsOf, rejectionOf, rejectsWith, stillWorks, within } from "../expectations.ts"
import { python } from "../programs.ts"
import type { Suite } from "../suite.ts"

function shape(event: ExecutionEvent): string {
  if (event.type === "artifact") return `artifact ${event.artifact.path}`
  if (event.type === "started") return `started ${event.blocks}`
  if (event.type === "finished") return `finished ${event.result.exitCode}`
  return "block" in event ? `${event.type} ${event.block}` : event.type
}

/** Runs as a loop over events. */
export function defineStreams({ it, itIf, shared, programs }: Suite): void {
  it("events come in order: started, the blocks with their output, artifacts, finished", async () => {
    const events = await eventsOf(
      shared().stream([programs.print("a"), programs.printError("b"), programs.write("streamed.txt", "c")]),
    )
    assert.deepEqual(events.map(shape), [
      "started 3",
      "block-started 0",
      "stdout 0",
      "block-finished 0",
      "block-started 1",
      "stderr 1",
      "block-finished 1",
      "block-started 2",
      "block-finished 2",
      "artifact streamed.txt",
      "finished 0",
    ])
    const last = events.at(-1)
    assert.ok(last?.type === "finished")
    const finished = events.flatMap((event) => (event.type === "block-finished" ? [event.result] : []))
    assert.deepEqual(last.result.blocks, finished)
    assert.equal(last.result.output, "ab")
    const begun = events.find((event) => event.type === "block-started")
    assert.deepEqual(begun?.type === "block-started" && [begun.language, begun.codeFile], [
      programs.language,
      last.result.codeFile,
    ])
  })

  it("a failure of the code is in the events, and later blocks are not", async () => {
    const events = await eventsOf(shared().stream([programs.exit(5), programs.print("never")]))
    assert.deepEqual(events.map(shape), ["started 2", "block-started 0", "block-finished 0", "finished 5"])
  })

  it("what is refused throws out of the loop before any event", async () => {
    const seen: ExecutionEvent[] = []
    const loop = async (): Promise<void> => {
      for await (const event of shared().stream([{ language: "klingon", code: "" }])) seen.push(event)
    }
    await rejectsWith(loop(), "LANGUAGE_UNKNOWN")
    assert.deepEqual(seen, [])
  })

  it("leaving the loop ends the run", async () => {
    const loop = async (): Promise<string> => {
      for await (const event of shared().stream([programs.wait("left soon")])) {
        if (event.type === "stdout") return event.text
      }
      return "never left"
    }
    // The program would run for ever, and the loop waits for its end.
    assert.equal(await within(loop(), 30, "leaving the loop"), "left soon")
    await stillWorks(shared(), programs.print)
  })

  it("a loop that never begins runs nothing", async () => {
    const events = shared().stream([programs.write("never-begun.txt", "x")])
    await events.return(undefined)
    assert.deepEqual(await events.next(), { done: true, value: undefined })
    const [{ stdout }] = [await shared().executeCodeBlocks([programs.show("never-begun.txt")])]
    assert.equal(stdout, "absent")
  })

  it("an abort throws the signal's reason out of the loop", async () => {
    const controller = new AbortController()
    const reason = new Error("enough of it")
    const loop = async (): Promise<void> => {
      for await (const event of shared().stream([programs.wait("x")], { signal: controller.signal })) {
        if (event.type === "stdout") controller.abort(reason)
      }
    }
    assert.equal(await within(rejectionOf(loop()), 30, "the abort"), reason)
    await stillWorks(shared(), programs.print)
  })

  itIf(programs.language === "python", "a reader that is slow for a while gets everything", async () => {
    let length = 0
    let isFirst = true
    const code = python(
      `import sys\nfor _ in range(8):\n    sys.stdout.write("z" * 1_000_000)\n    sys.stdout.flush()`,
    )
    for await (const event of shared().stream([code])) {
      if (event.type !== "stdout") continue
      // Long enough for the writer to run into every buffer between here and there.
      if (isFirst) await new Promise((resolve) => setTimeout(resolve, 1000))
      isFirst = false
      length += event.text.length
    }
    assert.equal(length, 8_000_000)
  })
}
