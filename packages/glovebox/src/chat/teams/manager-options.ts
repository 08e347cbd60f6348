import type { AgentId } from "../../core/index.ts"
import type { TerminationCondition } from "../conditions/termination-condition.ts"
import type { WireItems } from "../messages/wire-items.ts"
import type { ChatAgentContainer } from "./chat-agent-container.ts"
import type { ChatThread } from "./chat-thread.ts"
import type { SpeakerPolicy } from "./speaker-policy.ts"
import type { Suspension } from "./suspension.ts"
import type { TurnGate } from "./turn-gate.ts"

export interface Member {
  readonly name: string
  readonly description: string
  readonly id: AgentId
  readonly container: ChatAgentContainer
}

export interface ManagerOptions {
  readonly team: string
  readonly members: readonly Member[]
  readonly output: AgentId
  readonly wire: WireItems
  /** The deadline of its sends; a turn has its own. */
  readonly timeoutMs: number | undefined
  readonly policy: SpeakerPolicy
  readonly thread: ChatThread
  readonly gate: TurnGate
  readonly suspension: Suspension
  readonly condition: TerminationCondition | undefined
  readonly maxTurns: number | undefined
  readonly turnTimeoutMs: number | undefined
  readonly emitTeamEvents: boolean
}
