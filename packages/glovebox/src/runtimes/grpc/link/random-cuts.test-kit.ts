import { setImmediate as tick } from "node:timers/promises"
import * as fc from "fast-check"
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

export const cuts: fc.Arbitrary<readonly Step[]> = fc.array(step, { minLength: 10, maxLength: 60 })

/** What each side sent and got, once it has as much as was sent. */
export async function playCuts(steps: readonly Step[]): Promise<{
  readonly sent: readonly (readonly string[])[]
  readonly got: readonly (readonly string[])[]
}> {
  await using pair = new LinkedPair()
  await pair.join()
  const sent: Record<"host" | "worker", string[]> = { host: [], worker: [] }
  for (const now of steps) {
    if ("size" in now) {
      const id = `${now.kind} ${sent[now.kind].length}`
      sent[now.kind].push(id)
      pair[now.kind].link.send(requestOf(id, now.size))
    } else if (now.kind === "tick") await tick()
    else if (now.kind === "join") await pair.join()
    else if (now.kind === "cut-host") pair.host.link.detach()
    else pair.worker.link.detach()
  }
  await pair.join()
  await Promise.all([pair.worker.whenGot(sent.host.length), pair.host.whenGot(sent.worker.length)])
  return { sent: [sent.host, sent.worker], got: [pair.worker.requestIds, pair.host.requestIds] }
}
