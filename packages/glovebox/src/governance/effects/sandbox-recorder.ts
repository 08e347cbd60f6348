import type { CodeExecutor } from "../../executors/index.ts"
import type { SandboxEvent } from "../../executors/sandbox-event.ts"
import type { AuditData } from "../audit/record-kinds.ts"
import type { EffectLog } from "./effect-log.ts"
import { executorKind } from "./executor-kind.ts"
import { reachOf } from "./executor-reach.ts"

/** Writes down which sandboxes there were. */
export class SandboxRecorder {
  readonly #log: EffectLog
  #written: Promise<unknown> = Promise.resolve()

  constructor(log: EffectLog) {
    this.#log = log
  }

  /** Each sandbox of an executor, until this is disposed and those that began have ended. */
  watch(executor: CodeExecutor): Disposable {
    const kind = executorKind(executor)
    return this.#eachOf(executor, kind) ?? this.#whole(executor, kind)
  }

  #eachOf(executor: CodeExecutor, kind: string): Disposable | undefined {
    const open = new Set<string>()
    let isOver = false
    const endIfDone = (): void => {
      if (isOver && open.size === 0) watch?.[Symbol.dispose]()
    }
    const watch = executor.onSandbox?.((event) => {
      this.#write(sandboxData(kind, event))
      if (event.event === "started") open.add(event.containerId)
      else open.delete(event.containerId)
      endIfDone()
    })
    return (
      watch && {
        [Symbol.dispose]: () => {
          isOver = true
          endIfDone()
        },
      }
    )
  }

  // Of a kind that does not tell of its sandboxes.
  #whole(executor: CodeExecutor, kind: string): Disposable {
    const policySha256 = reachOf(executor).policy?.sha256
    this.#write({ event: "created", executor: kind, policySha256 })
    let isOver = false
    return {
      [Symbol.dispose]: () => {
        if (!isOver) this.#write({ event: "destroyed", executor: kind, policySha256 })
        isOver = true
      },
    }
  }

  /** All of it is on the disk, or it rejects. */
  async settle(): Promise<void> {
    await this.#written
  }

  #write(data: AuditData<"sandbox">): void {
    this.#written = bothOf(this.#written, this.#log.record({ kind: "sandbox", data }))
    // Whoever waits for the end is told; until then nobody listens.
    this.#written.catch(() => {})
  }
}

/** The record of a sandbox that began or ended. */
export function sandboxData(executor: string, { runtime, ...event }: SandboxEvent): AuditData<"sandbox"> {
  return { executor, ...event, ...(runtime !== undefined && { details: { runtime } }) }
}

async function bothOf(one: Promise<unknown>, other: Promise<unknown>): Promise<void> {
  await Promise.all([one, other])
}
