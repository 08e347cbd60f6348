import { AGENT_NAME, ERROR_TYPE, OPERATION_NAME } from "./names.ts"
import type { Observed } from "./observed.ts"
import type { Subject } from "./observer.ts"

export interface AgentRunInfo {
  readonly agent: string
  /** The id of the run, as the audit log has it. */
  readonly run?: string | undefined
  /** @default the span that is active */
  readonly parent?: Observed<unknown> | undefined
}

export interface AgentRunOutcome {
  /** Why it stopped, in one of a few words. */
  readonly stopKind?: string | undefined
}

export function agentRun({ agent, run }: AgentRunInfo): Subject<AgentRunOutcome> {
  return {
    name: `invoke_agent ${agent}`,
    attributes: () => ({ [OPERATION_NAME]: "invoke_agent", [AGENT_NAME]: agent, "glovebox.run.id": run }),
    outcome: ({ stopKind }) => ({ "glovebox.agent.stop_kind": stopKind }),
    measure: ({ agentDuration }, { seconds, errorType }) =>
      agentDuration.record(seconds, {
        [AGENT_NAME]: agent,
        ...(errorType === undefined ? {} : { [ERROR_TYPE]: errorType }),
      }),
  }
}
