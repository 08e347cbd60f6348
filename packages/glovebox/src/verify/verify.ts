import { GloveboxError } from "../core/index.ts"
import { nearest } from "../internal/nearest.ts"
import { Slots } from "../internal/slots.ts"
import type { PolicyInput, SandboxPolicy } from "../policy/index.ts"
import { type Finding, PROBES, type Probe, type ProbeContext, failed, probesFor } from "../probes/index.ts"
import type { Preset } from "./docker-presets.ts"
import { listProbes } from "./list-probes.ts"
import { openSubject } from "./open-subject.ts"
import { runControls } from "./run-controls.ts"
import { runProbes } from "./run-probes.ts"
import { type ReadVerifyOptions, type VerifyOptions, readVerifyOptions } from "./verify-options.ts"
import type { ProbeReport, VerifyReport } from "./verify-report.ts"
import { Workbench } from "./workbench.ts"

const AT_ONCE = 3

/**
 * Attacks sandboxes of a policy, watches from outside, and tells what was refused and what worked. Only what the policy
 * expects passes; what could not be tried does not.
 *
 * @example
 * const report = await verify({ image: "python:3-slim" }, { mode: "quick" })
 * report.pass // true when every probe was observed as the policy expects it
 */
export async function verify(
  policy: SandboxPolicy | PolicyInput = {},
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  const read = readVerifyOptions(policy, options)
  checkIds(read.policy, read)
  return examine(read)
}

interface Examination {
  /** Whose settings containers have in the place of the policy's. */
  readonly preset?: Preset | undefined
  /** Which of the probes are run. @default all that the options choose */
  readonly keeps?: ((probe: Probe) => boolean) | undefined
}

/** The same with options that are read. */
export async function examine(
  read: ReadVerifyOptions,
  { preset, keeps = () => true }: Examination = {},
): Promise<VerifyReport> {
  const startedAt = performance.now()
  const { signal } = read
  const input = read.policy.toJSON()
  await using subject = await openSubject(read, preset)
  const { facts, ...machine } = await subject.prepare(input, signal)
  const context: ProbeContext = { policy: read.policy.fields, facts }
  const probes = selectProbes(context, read).filter(keeps)
  const found = new Map<string, ProbeReport>()
  let seen: { readonly imageDigest?: string | undefined; readonly runtime?: string | undefined } = {}
  const slots = new Slots(AT_ONCE)
  {
    await using bench = await Workbench.set({
      subject,
      policy: input,
      context,
      weakenings: [],
      isControl: false,
      signal,
      onRun: ({ sandbox }) => {
        seen = sandbox
      },
    })
    const onFinding = (probe: Probe, finding: Finding): void => {
      const report = reportOf(probe, finding, context)
      found.set(probe.id, report)
      read.onProbe?.(report)
    }
    await runProbes(probes, { bench, context, signal, slots, onFinding })
  }
  if (read.mode === "full") {
    const controlled = probes.filter((probe) => needsControl(probe, context))
    const onControl = (probe: Probe, finding: Finding): void => {
      const before = found.get(probe.id) ?? reportOf(probe, failed("it was not run"), context)
      found.set(probe.id, withControl(before, finding))
    }
    await runControls(controlled, { subject, policy: input, context, signal, slots, onControl })
  }
  const reports = probes.map(({ id }) => found.get(id)).filter((report) => report !== undefined)
  return {
    policySha256: read.policy.sha256,
    imageDigest: seen.imageDigest ?? machine.imageDigest,
    kernel: machine.kernel,
    runtime: seen.runtime ?? machine.runtime,
    engine: machine.engine,
    path: facts.path,
    sandbox: subject.tier,
    image: machine.imageDigest === undefined ? undefined : read.policy.fields.image,
    mode: read.mode,
    date: new Date().toISOString(),
    durationMs: Math.round(performance.now() - startedAt),
    pass: reports.length === probes.length && reports.every(({ pass }) => pass),
    probes: reports,
  }
}

function selectProbes(context: ProbeContext, { mode, only }: ReadVerifyOptions): Probe[] {
  const all = probesFor(context)
  if (only === undefined) return mode === "quick" ? all.filter(({ isQuick }) => isQuick) : all
  const byId = new Map(all.map((probe) => [probe.id, probe]))
  return only.map((id) => byId.get(id) ?? refuse(id, [...byId.keys()]))
}

/** Refuses ids that nobody has ever heard of, before anything is made. */
export function checkIds(policy: SandboxPolicy, { sandbox, path, only = [] }: ReadVerifyOptions): void {
  const known = [...listProbes(policy, { sandbox, path }), ...PROBES].map(({ id }) => id)
  for (const id of only) if (!known.includes(id)) refuse(id, known)
}

function refuse(id: string, known: readonly string[]): never {
  const meant = nearest(id, known)
  throw new GloveboxError(
    "OPTION_INVALID",
    `There is no probe ${id} for this policy and sandbox${meant === undefined ? "." : `; did you mean ${meant}?`} See glovebox verify --list.`,
  )
}

function reportOf(probe: Probe, { observed, evidence }: Finding, context: ProbeContext): ProbeReport {
  const { id, family, title } = probe
  const expected = probe.expects(context) ?? "BLOCKED"
  return { id, family, title, expected, observed, pass: observed === expected, evidence }
}

// Where the attack is to work, it shows itself that the probe can tell.
function needsControl(probe: Probe, context: ProbeContext): boolean {
  return probe.control !== undefined && probe.expects(context) === "BLOCKED"
}

/** A probe that does not see an attack that works has shown nothing by seeing none. */
export function withControl(report: ProbeReport, control: Finding): ProbeReport {
  if (control.observed === "ALLOWED") {
    return { ...report, control: "works", controlEvidence: control.evidence }
  }
  const observed = report.observed === "BLOCKED" ? "INCONCLUSIVE" : report.observed
  return {
    ...report,
    observed,
    pass: observed === report.expected,
    control: "broken",
    controlEvidence: `${control.observed}: ${control.evidence}`,
  }
}
