import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import type { Facts } from "../sandbox/agent-answers.ts"
import type { Channel } from "../sandbox/channel.ts"
import { FramedAgent } from "../sandbox/framed-agent.ts"
import type { Guard } from "../sandbox/guard.ts"
import { processChannel } from "../sandbox/process-channel.ts"
import type { SandboxEgress } from "../sandbox/sandbox-egress.ts"
import type { Sandbox } from "../sandbox/sandbox.ts"
import { notStarted } from "../sandbox/start-process.ts"
import type { Control } from "./bwrap-arguments.ts"
import { cgroupName } from "./cgroup-owner.ts"
import { effectiveSettings } from "./effective-settings.ts"
import { explainFailure, systemFailure } from "./explain-failure.ts"
import { readKernelView } from "./kernel-view.ts"
import { planProcess } from "./plan-process.ts"
import type { LaunchPreparation } from "./prepare-launch.ts"
import { SandboxCgroup } from "./sandbox-cgroup.ts"
import { SandboxProcess } from "./sandbox-process.ts"

const BOOT_LIMIT_MS = 60_000

/** A sandbox, and the cgroup it is in, if any. */
export interface LaunchedSandbox extends Sandbox {
  readonly cgroup: SandboxCgroup | undefined
  /** Its first process, by this machine's number. */
  readonly init: number
}

export interface LaunchOptions {
  /** Which launch of the executor's this is. */
  readonly turn: number
  /** Ends the sandbox when this process dies. */
  readonly guard: Guard
  /** The way out of the sandbox, if it has one; closed with it. */
  readonly egress?: SandboxEgress | undefined
  readonly signal?: AbortSignal | undefined
  /** For tests of what each part of the wall is for: changes it, or leaves out the check that it stands. */
  readonly alter?: ((controls: readonly Control[]) => readonly Control[]) | undefined
  readonly verifies?: boolean | undefined
}

/** Starts a process, puts it into its cgroup, hears its agent, and checks that it is what the policy asked for. */
export async function launchSandbox(
  preparation: LaunchPreparation,
  launch: LaunchOptions,
): Promise<LaunchedSandbox> {
  try {
    return await launchInto(preparation, launch)
  } catch (error) {
    throw launch.signal?.aborted ? error : systemFailure(error)
  }
}

async function launchInto(preparation: LaunchPreparation, launch: LaunchOptions): Promise<LaunchedSandbox> {
  const { machine, options } = preparation
  const { fields } = options.policy
  const { signal, guard, egress } = launch
  const id = cgroupName()
  const hasCgroup = machine.cgroup.folders.size > 0
  const cgroup = hasCgroup ? await SandboxCgroup.create(machine.cgroup, id, fields.limits) : undefined
  let running: SandboxProcess | undefined
  let channel: Channel | undefined
  const destroy = once(async () => {
    channel?.close()
    egress?.close()
    await Promise.all([running?.end(), cgroup?.kill()])
    await cgroup?.remove()
  })
  try {
    const env = { ...preparation.env, ...egress?.variables }
    const plan = planProcess({ ...preparation, ...launch, env, policy: fields, cgroup: cgroup?.binds ?? [] })
    running = SandboxProcess.start(plan)
    channel = processChannel(running.child)
    watch(running, guard, cgroup && id)
    if (running.pid !== undefined) await cgroup?.add(running.pid)
    running.openGate()
    const agent = await greet(channel, egress, signal)
    const { init, facts } = await abortable(
      verify(preparation, running, agent, launch.verifies !== false),
      signal,
    )
    return { id, agent, facts, egress, cgroup, init, destroy, [Symbol.asyncDispose]: destroy }
  } catch (error) {
    // The cause is worth more to the caller than a failed removal, which a sweep makes good.
    await destroy().catch(() => {})
    throw running?.failure ? notStarted("The sandbox", running.failure) : error
  }
}

// Before the gate opens: bwrap's own process is not bound to this one until it has made its namespaces.
function watch({ pid, exited }: SandboxProcess, guard: Guard, cgroup: string | undefined): void {
  if (pid === undefined) return
  guard.watch(pid, cgroup)
  void exited.then(() => guard.forget(pid))
}

async function greet(
  channel: Channel,
  egress: SandboxEgress | undefined,
  signal?: AbortSignal,
): Promise<FramedAgent> {
  const timer = setTimeout(() => channel.close(), BOOT_LIMIT_MS)
  try {
    return await abortable(FramedAgent.greet(channel, egress?.accept), signal)
  } catch (error) {
    if (!GloveboxError.is(error, "SANDBOX_LOST")) throw error
    const said = /its agent said: ([\s\S]*)\.$/.exec(error.message)?.[1] ?? error.message
    throw await explainFailure(said, error)
  } finally {
    clearTimeout(timer)
  }
}

async function verify(
  { options, plan, filters, machine }: LaunchPreparation,
  running: SandboxProcess,
  agent: FramedAgent,
  verifies: boolean,
): Promise<Pick<LaunchedSandbox, "init" | "facts">> {
  const info = await running.info
  const runtime = `bubblewrap ${machine.bwrap.version}`
  if (!verifies) return { init: info.init, facts: { runtime, effective: {} } }
  const effective = effectiveSettings({
    policy: options.policy.fields,
    plan,
    // It has said them in its greeting.
    facts: agent.facts as Facts,
    view: await readKernelView(info),
    identity: machine.identity,
    filters: filters.length,
    runtime,
  })
  return { init: info.init, facts: { runtime, effective } }
}

function once(action: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined
  return async () => (result ??= action())
}
