import { EventEmitter } from "node:events"
import { describe, expect, it } from "vitest"
import { watchInterrupts } from "./interrupts.ts"

describe("watchInterrupts", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])("aborts at %s, and exits with %i at once when it comes again", (name, code) => {
    const source = new EventEmitter()
    const exits: number[] = []
    using interrupts = watchInterrupts(source, (exitCode) => exits.push(exitCode))
    expect([interrupts.signal.aborted, interrupts.exitCode]).toEqual([false, undefined])
    source.emit(name)
    expect([interrupts.signal.aborted, interrupts.exitCode, exits]).toEqual([true, code, []])
    source.emit(name)
    expect(exits).toEqual([code])
  })

  it("leaves the signals to the process when it is done", () => {
    const source = new EventEmitter()
    watchInterrupts(source)[Symbol.dispose]()
    expect(source.eventNames()).toEqual([])
  })
})
