import type { Finding, Probe, ProbeContext, Weakening } from "../probes/index.ts"
import type { Slots } from "../internal/slots.ts"
import type { PolicyInput } from "../policy/index.ts"
import { runProbes } from "./run-probes.ts"
import type { Subject } from "./subject.ts"
import { Workbench } from "./workbench.ts"

export interface ControlOptions {
  readonly subject: Subject
  readonly policy: PolicyInput
  readonly context: ProbeContext
  readonly signal: AbortSignal
  readonly slots: Slots
  readonly onControl: (probe: Probe, finding: Finding) => void
}

/** Runs each probe where what it is held by was taken away; there its attack has to work. */
export async function runControls(probes: readonly Probe[], options: ControlOptions): Promise<void> {
  const groups = new Map<string, { readonly weakenings: readonly Weakening[]; readonly probes: Probe[] }>()
  for (const probe of probes) {
    const weakenings = probe.control?.kind === "weakened" ? probe.control.by : []
    const key = weakenings.join(" ")
    if (!groups.has(key)) groups.set(key, { weakenings, probes: [] })
    groups.get(key)?.probes.push(probe)
  }
  await Promise.all([...groups.values()].map(async (group) => runGroup(group, options)))
}

async function runGroup(
  { weakenings, probes }: { readonly weakenings: readonly Weakening[]; readonly probes: readonly Probe[] },
  { subject, policy, context, signal, slots, onControl }: ControlOptions,
): Promise<void> {
  const missing = weakenings.find((weakening) => !subject.canWeaken(weakening))
  if (missing !== undefined) {
    const evidence = `${missing} cannot be had with ${subject.tier} here`
    for (const probe of probes) onControl(probe, { observed: "INCONCLUSIVE", evidence })
    return
  }
  await using bench = await Workbench.set({ subject, policy, context, weakenings, isControl: true, signal })
  await runProbes(probes, { bench, context, signal, slots, onFinding: onControl, isPlanted: true })
}
