import type { CodeExecutor } from "../../executors/index.ts"
import type { ChatCompletionClient } from "../../models/index.ts"
import type { Approve, ToolGovernor, Workbench } from "../../tools/index.ts"
import type { ApproveCodeBlocks } from "../approval/approval-adapters.ts"
import { ApprovalAudit } from "./approval-audit.ts"
import type { Controls } from "./controls.ts"
import { GovernedClient } from "./governed-client.ts"
import { GovernedExecutor, type GovernedExecutorOptions } from "./governed-executor.ts"
import { GovernedWorkbench } from "./governed-workbench.ts"
import { recordedApprove, recordsItself } from "./recorded-approve.ts"

const GOVERNED = [GovernedExecutor, GovernedWorkbench, GovernedClient] as const

/** What one agent's effects go through: everything it runs, calls and asks is put behind the rules by this. */
export class Governor implements ToolGovernor {
  readonly #controls: Controls

  constructor(controls: Controls) {
    this.#controls = controls
  }

  get agent(): string {
    return this.#controls.agent
  }

  /** For calls of tools; undefined where there is no gate. */
  get approveTool(): Approve | undefined {
    const { gate, agent } = this.#controls
    return gate && recordsItself(gate.forTools({ agent }))
  }

  /** The same, with what is asked and answered in the audit log, by whichever way it is asked. */
  recorded(approve: Approve): Approve {
    return recordedApprove(approve, this.#controls)
  }

  /** For whatever shows code before it runs, such as CodeExecutorAgent; undefined where there is no gate. */
  get approveCode(): ApproveCodeBlocks | undefined {
    const { gate, agent } = this.#controls
    return gate?.forCode({ agent })
  }

  /** For approvals that no gate decides: what is asked for, and what is answered, for the audit log. */
  get approvals(): ApprovalAudit {
    return new ApprovalAudit(this.#controls)
  }

  /** A turn of the agent, traced; what happens in it is inside of its span. */
  async *turn<Item, Result>(
    stream: AsyncGenerator<Item, Result, undefined>,
  ): AsyncGenerator<Item, Result, undefined> {
    const { telemetry, agent, run } = this.#controls
    const observed = telemetry.invokeAgent({ agent, run })
    let isDone = false
    try {
      for (;;) {
        const next = await observed.run(() => stream.next())
        isDone = next.done === true
        if (next.done === true) {
          observed.end({})
          return next.value
        }
        yield next.value
      }
    } catch (error) {
      isDone = true
      observed.fail(error)
      throw error
    } finally {
      if (!isDone) await stream.return(undefined as never)
      observed.fail("Nobody wanted the rest of the turn.")
    }
  }

  /** One that is behind the rules of this governance already stays as it is; behind those of another, both bind it. */
  executor(executor: CodeExecutor, options?: GovernedExecutorOptions): CodeExecutor {
    return this.binds(executor) ? executor : new GovernedExecutor(executor, this.#controls, options)
  }

  /** The same. */
  workbench(workbench: Workbench): Workbench {
    return this.binds(workbench) ? workbench : new GovernedWorkbench(workbench, this.#controls, this)
  }

  /** The same. */
  client(client: ChatCompletionClient): ChatCompletionClient {
    return this.binds(client) ? client : new GovernedClient(client, this.#controls)
  }

  /** Whether it is behind the rules of this governance, whichever agent it is for. */
  binds(what: object): boolean {
    return GOVERNED.some((kind) => what instanceof kind && what.isBehind(this.#controls.log))
  }
}
