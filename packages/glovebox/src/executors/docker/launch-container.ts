import { abortable } from "../../internal/abortable.ts"
import type { PolicyFields } from "../../policy/index.ts"
import type { AgentKind } from "../sandbox/agent-command.ts"
import type { Facts } from "../sandbox/agent-answers.ts"
import type { Channel } from "../sandbox/channel.ts"
import type { ContainerSpec } from "./container-spec.ts"
import { engineChannel } from "./engine-channel.ts"
import { type EffectiveSettings, type EngineKind, effectiveSettings } from "./effective-settings.ts"
import type { Engine } from "./engine.ts"
import { FramedAgent } from "../sandbox/framed-agent.ts"
import { LineAgent } from "./line-agent.ts"
import type { SandboxAgent } from "../sandbox/sandbox-agent.ts"
import type { SandboxEgress } from "../sandbox/sandbox-egress.ts"
import { tunnelledChannel } from "../sandbox/tunnelled-channel.ts"
import type { Sandbox } from "../sandbox/sandbox.ts"

const BOOT_LIMIT_MS = 60_000

export interface LaunchOptions extends EngineKind {
  readonly engine: Engine
  readonly policy: PolicyFields
  readonly spec: ContainerSpec
  readonly kind: AgentKind
  /** The way out of the container, if it has one; closed with it. */
  readonly egress?: SandboxEgress | undefined
  readonly name?: string | undefined
  /** Whether the container stays, stopped, when its work is done. */
  readonly keep: boolean
  /** Gives up, and removes the container, when it aborts. */
  readonly signal?: AbortSignal | undefined
}

/** A running container whose agent waits for work. */
export interface SandboxContainer extends Sandbox {
  readonly effective: EffectiveSettings
}

/** The image has not the program that the agent needs. */
export class AgentProgramMissing extends Error {
  override readonly name = "AgentProgramMissing"
}

/** Creates a container, starts it, hears its agent, and checks that it is what the policy asked for. */
export async function launchContainer(options: LaunchOptions): Promise<SandboxContainer> {
  const { engine, policy, spec, kind, egress, name, keep, signal } = options
  const id = await engine.create(spec, name).catch((error: unknown) => {
    egress?.close()
    throw error
  })
  let removal: Promise<void> | undefined
  const remove = async (): Promise<void> => (removal ??= engine.remove(id))
  let channel: Channel | undefined
  try {
    channel = engineChannel(await engine.attach(id))
    await start(engine, id)
    signal?.throwIfAborted()
    const [agent, inspected] = await abortable(
      Promise.all([greet(kind, channel, egress), engine.inspect(id)]),
      signal,
    )
    const facts = kind === "python" ? (agent.facts as Facts) : undefined
    const effective = effectiveSettings(policy, spec, inspected, facts, options)
    const destroy = async (): Promise<void> => {
      agent.close()
      egress?.close()
      await (keep ? engine.kill(id) : remove())
    }
    const { image, runtime, settings } = effective
    const sandboxFacts = {
      image: policy.image,
      imageDigest: image,
      runtime,
      containerId: id,
      effective: settings,
    }
    return { id, agent, facts: sandboxFacts, egress, effective, destroy, [Symbol.asyncDispose]: destroy }
  } catch (error) {
    channel?.close()
    egress?.close()
    // The cause is worth more to the caller than a failed removal, which a sweep makes good.
    await remove().catch(() => {})
    throw error
  }
}

async function greet(
  kind: AgentKind,
  channel: Channel,
  egress: SandboxEgress | undefined,
): Promise<SandboxAgent> {
  const timer = setTimeout(() => channel.close(), BOOT_LIMIT_MS)
  try {
    if (kind === "python") return await FramedAgent.greet(channel, egress?.accept)
    return await LineAgent.greet(egress ? tunnelledChannel(channel, egress.accept) : channel)
  } finally {
    clearTimeout(timer)
  }
}

async function start(engine: Engine, id: string): Promise<void> {
  try {
    await engine.start(id)
  } catch (error) {
    const text = error instanceof Error ? error.message : ""
    if (
      /executable file .*not found|exec: "[^"]*": (?:stat|no such file)|no such file or directory.*exec/i.test(
        text,
      )
    ) {
      throw new AgentProgramMissing(text, { cause: error })
    }
    throw error
  }
}
