import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import type { Facts } from "../sandbox/agent-answers.ts"
import type { Channel } from "../sandbox/channel.ts"
import { FramedAgent } from "../sandbox/framed-agent.ts"
import { processChannel } from "../sandbox/process-channel.ts"
import type { Sandbox } from "../sandbox/sandbox.ts"
import type { Control } from "./bwrap-arguments.ts"
import { cgroupName } from "./cgroup-owner.ts"
import { effectiveSettings } from "./effective-settings.ts"
import { explainFailure } from "./explain-failure.ts"
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
  const { machine, options } = preparation
  const { fields } = options.policy
  const { signal } = launch
  const id = cgroupName()
  const hasCgroup = machine.cgroup.folders.size > 0
  const cgroup = hasCgroup ? await SandboxCgroup.create(machine.cgroup, id, fields.limits) : undefined
  const plan = planProcess({ ...preparation, ...launch, policy: fields, cgroup: cgroup?.binds ?? [] })
  const running = SandboxProcess.start(plan)
  const channel = processChannel(running.child)
  const destroy = once(async () => {
    channel.close()
    await running.end()
    await cgroup?.remove()
  })
  try {
    if (running.pid !== undefined) await cgroup?.add(running.pid)
    running.openGate()
    const agent = await greet(channel, signal)
    const { init, facts } = await abortable(
      verify(preparation, running, agent, launch.verifies !== false),
      signal,
    )
    return { id, agent, facts, cgroup, init, destroy, [Symbol.asyncDispose]: destroy }
  } catch (error) {
    // The cause is worth more to the caller than a failed removal, which a sweep makes good.
    await destroy().catch(() => {})
    throw running.failure ? await explainFailure(running.failure.message, error) : error
  }
}

async function greet(channel: Channel, signal?: AbortSignal): Promise<FramedAgent> {
  const timer = setTimeout(() => channel.close(), BOOT_LIMIT_MS)
  try {
    return await abortable(FramedAgent.greet(channel), signal)
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
