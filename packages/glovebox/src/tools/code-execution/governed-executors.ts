import type { CodeExecutor } from "../../executors/index.ts"
import type { ToolGovernor } from "../index.ts"

/** An executor as each of its users may use it: one for all calls behind the same rules. */
export class GovernedExecutors {
  readonly #executor: CodeExecutor
  readonly #behind = new WeakMap<ToolGovernor, CodeExecutor>()

  constructor(executor: CodeExecutor) {
    this.#executor = executor
  }

  of(governor: ToolGovernor | undefined): CodeExecutor {
    if (!governor) return this.#executor
    const known = this.#behind.get(governor)
    if (known) return known
    const governed = governor.executor(this.#executor)
    this.#behind.set(governor, governed)
    return governed
  }
}
