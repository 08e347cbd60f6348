import { setImmediate as tick } from "node:timers/promises"
import * as fc from "fast-check"
import { expect } from "vitest"
import { LinkedPair, requestOf } from "./linked-pair.test-kit.ts"

type Step =
  | { readonly kind: "host" | "worker"; readonly size: number }
  | { readonly kind: "cut-host" | "cut-worker" | "join" | "tick" }

const size = fc.oneof(fc.nat(3000), fc.integer({ min: 60_000, max: 200_000 }))
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom("host", "worker"), size }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("cut-host", "cut-worker", "join") }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("tick") }) },
)

/** Each frame arrives once and in order, wherever the streams are cut. */
export const survivesCuts = fc.asyncProperty(
  fc.array(step, { minLength: 10, maxLength: 60 }),
  async (steps) => {
    await using pair = new LinkedPair()
    await pair.join()
    const sent = { host: 0, worker: 0 }
    for (const now of steps) {
      if ("size" in now) pair[now.kind].link.send(requestOf(++sent[now.kind], now.size))
      else if (now.kind === "tick") await tick()
      else if (now.kind === "join") await pair.join()
      else if (now.kind === "cut-host") pair.host.link.detach()
      else pair.worker.link.detach()
    }
    await pair.join()
    await Promise.all([pair.worker.whenGot(sent.host), pair.host.whenGot(sent.worker)])
    expect(pair.worker.requestIds).toEqual(numbers(sent.host))
    expect(pair.host.requestIds).toEqual(numbers(sent.worker))
  },
)

function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${index + 1}`)
}
