import { errorMessage } from "../internal/error-message.ts"
import type { Slots } from "../internal/slots.ts"
import {
  type Finding,
  type InsideAttack,
  type InsideRequest,
  type Probe,
  type ProbeContext,
  type Watch,
  failed,
  insideRequest,
  plainFinding,
} from "../probes/index.ts"
import type { Workbench } from "./workbench.ts"

export interface RunOptions {
  readonly bench: Workbench
  readonly context: ProbeContext
  readonly signal: AbortSignal
  /** Bounds how many sandboxes are at work at a time. */
  readonly slots: Slots
  readonly onFinding: (probe: Probe, finding: Finding) => void
  /** Whether attacks are given what they look for. */
  readonly isPlanted?: boolean | undefined
}

/** Runs probes: most of those inside in one sandbox, others in their own; each is told of once, whatever happens. */
export async function runProbes(probes: readonly Probe[], options: RunOptions): Promise<void> {
  const batch: InsideProbe[] = []
  const work: (() => Promise<void>)[] = []
  for (const probe of probes) {
    const { how } = probe
    if (how.kind === "lab") {
      work.push(async () => {
        report(probe, await attempt(async () => how.run(options.bench.lab()), options), options)
      })
    } else if (how.isAlone) work.push(async () => runInside([{ probe, how }], options))
    else batch.push({ probe, how })
  }
  // What leaves traces comes last.
  batch.sort((one, other) => Number(other.how.isGentle) - Number(one.how.isGentle))
  if (batch.length > 0) work.unshift(async () => runInside(batch, options))
  await Promise.all(work.map(async (one) => inTurn(one, options)))
}

interface InsideProbe {
  readonly probe: Probe
  readonly how: InsideAttack
}

async function runInside(batch: readonly InsideProbe[], options: RunOptions): Promise<void> {
  const { bench, context } = options
  const watched = await Promise.all(batch.map(async (one) => watch(one, options)))
  try {
    const limits = batch.length === 1 ? batch[0]?.how.limits(context) : undefined
    let fault = "it was not answered"
    const requests = watched.map((one) => requestOf(one, options))
    const found = await bench.attack(requests, limits).catch((error: unknown) => {
      options.signal.throwIfAborted()
      fault = errorMessage(error)
      return new Map<string, Finding>()
    })
    for (const { probe, watch: observer } of watched) {
      const finding = found.get(probe.id) ?? failed(fault)
      report(probe, observer.judge?.(finding) ?? finding, options)
    }
  } finally {
    await Promise.all(watched.map(async ({ watch: observer }) => observer[Symbol.asyncDispose]?.()))
  }
}

interface WatchedProbe extends InsideProbe {
  readonly watch: Watch
}

async function watch(one: InsideProbe, { bench, signal }: RunOptions): Promise<WatchedProbe> {
  try {
    return { ...one, watch: (await one.how.watch?.(bench.lab())) ?? { given: {} } }
  } catch (error) {
    signal.throwIfAborted()
    // Without who looks on, what is said inside is not enough.
    return { ...one, watch: { given: {}, judge: () => failed(errorMessage(error)) } }
  }
}

function requestOf(
  { probe, how, watch: { given } }: WatchedProbe,
  { context, isPlanted = false }: RunOptions,
): InsideRequest {
  const planted = isPlanted && probe.control?.kind === "planted" ? probe.control.given(context) : {}
  return insideRequest(probe.id, how, context, { ...given, ...planted })
}

async function attempt(run: () => Promise<Finding>, { signal }: RunOptions): Promise<Finding> {
  try {
    return await run()
  } catch (error) {
    signal.throwIfAborted()
    return failed(errorMessage(error))
  }
}

function report(probe: Probe, finding: Finding, { onFinding }: RunOptions): void {
  onFinding(probe, plainFinding(finding))
}

async function inTurn(work: () => Promise<void>, { slots, signal }: RunOptions): Promise<void> {
  const giveBack = await slots.take(signal)
  try {
    await work()
  } finally {
    giveBack()
  }
}
