import { describe, expect, expectTypeOf, it, vi } from "vitest"
import { TypedEmitter } from "./typed-emitter.ts"

type Event =
  | { readonly type: "added"; readonly name: string }
  | { readonly type: "removed"; readonly count: number }

const added: Event = { type: "added", name: "a" }
const removed: Event = { type: "removed", count: 1 }

function collecting(): { emitter: TypedEmitter<Event>; errors: unknown[] } {
  const errors: unknown[] = []
  return { emitter: new TypedEmitter<Event>((error) => errors.push(error)), errors }
}

describe("TypedEmitter", () => {
  it("calls the listeners of an event's type, in the order they came", () => {
    const { emitter } = collecting()
    const calls: unknown[] = []
    emitter.on("added", (event) => {
      expectTypeOf(event).toEqualTypeOf<Extract<Event, { type: "added" }>>()
      calls.push(["first", event.name])
    })
    emitter.on("added", ({ name }) => calls.push(["second", name]))
    emitter.on("removed", ({ count }) => calls.push(["removed", count]))
    emitter.emit(added)
    expect(calls).toEqual([
      ["first", "a"],
      ["second", "a"],
    ])
    // @ts-expect-error no such event
    emitter.on("renamed", () => {})
  })

  it("knows whether anybody listens", () => {
    const { emitter } = collecting()
    expect(emitter.has("added")).toBe(false)
    const listening = emitter.on("added", () => {})
    expect([emitter.has("added"), emitter.has("removed")]).toEqual([true, false])
    listening[Symbol.dispose]()
    expect(emitter.has("added")).toBe(false)
  })

  it("stops calling a listener that was disposed of, once or twice", () => {
    const { emitter } = collecting()
    const listener = vi.fn<(event: Event) => void>()
    const other = vi.fn<(event: Event) => void>()
    const listening = emitter.on("added", listener)
    listening[Symbol.dispose]()
    emitter.on("added", other)
    listening[Symbol.dispose]()
    emitter.emit(added)
    expect(listener).not.toHaveBeenCalled()
    expect(other).toHaveBeenCalledOnce()
  })

  it("holds one function given twice to be two listeners", () => {
    const { emitter } = collecting()
    const listener = vi.fn<(event: Event) => void>()
    const first = emitter.on("added", listener)
    emitter.on("added", listener)
    emitter.emit(added)
    expect(listener).toHaveBeenCalledTimes(2)
    first[Symbol.dispose]()
    emitter.emit(added)
    expect(listener).toHaveBeenCalledTimes(3)
  })

  it("goes on after a listener that throws, and reports it", () => {
    const { emitter, errors } = collecting()
    const boom = new Error("boom")
    const after = vi.fn<(event: Event) => void>()
    emitter.on("removed", () => {
      throw boom
    })
    emitter.on("removed", after)
    expect(() => emitter.emit(removed)).not.toThrow()
    expect(errors).toEqual([boom])
    expect(after).toHaveBeenCalledWith(removed)
  })

  it("reports a listener that rejects, rather than leave the rejection to the process", async () => {
    const { emitter, errors } = collecting()
    const boom = new Error("boom")
    const rejecting: unknown = () => Promise.reject(boom)
    emitter.on("added", rejecting as () => void)
    emitter.emit(added)
    await Promise.resolve()
    expect(errors).toEqual([boom])
  })

  it("does not call a listener for the event during which it came or after which it went", () => {
    const { emitter } = collecting()
    const late = vi.fn<(event: Event) => void>()
    const gone = vi.fn<(event: Event) => void>()
    emitter.on("added", () => {
      emitter.on("added", late)
      going[Symbol.dispose]()
    })
    const going = emitter.on("added", gone)
    emitter.emit(added)
    expect(late).not.toHaveBeenCalled()
    emitter.emit(added)
    expect(late).toHaveBeenCalledOnce()
    expect(gone).not.toHaveBeenCalled()
  })

  it("ends when a listener subscribes anew each time it is called", () => {
    const { emitter } = collecting()
    let calls = 0
    let listening: Disposable | undefined
    const renew = (): void => {
      calls += 1
      listening?.[Symbol.dispose]()
      if (calls < 100) listening = emitter.on("added", renew)
    }
    listening = emitter.on("added", renew)
    emitter.emit(added)
    expect(calls).toBe(1)
  })
})
