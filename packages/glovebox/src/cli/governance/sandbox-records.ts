import { sandboxEventOf } from "../../executors/docker/container-events.ts"
import type { DockerExecutorEvent } from "../../executors/docker/index.ts"
import type { ChosenExecutor } from "../../executors/index.ts"
import { sandboxData } from "../../governance/effects/sandbox-recorder.ts"
import type { AuditData, Governance } from "../../governance/index.ts"
import type { Tier } from "../../policy/index.ts"

/** Writes down which sandboxes there were. */
export class SandboxRecords {
  readonly #governance: Governance
  readonly #opened: ChosenExecutor[] = []
  #written: Promise<unknown> = Promise.resolve()

  constructor(governance: Governance) {
    this.#governance = governance
  }

  /** For what an engine tells of its containers. */
  readonly take = (event: DockerExecutorEvent, tier: Tier): void => {
    const told = sandboxEventOf(event)
    if (told) this.#add(sandboxData(tier, told))
  }

  /** For kinds that tell nothing while they run. */
  opened(executor: ChosenExecutor): void {
    if (hasEvents(executor)) return
    this.#opened.push(executor)
    this.#add({ event: "created", executor: executor.kind, policySha256: executor.policy.sha256 })
  }

  /** When nothing runs any more: all of it is on the disk, or it rejects. */
  async end(): Promise<void> {
    for (const { kind, policy } of this.#opened.splice(0)) {
      this.#add({ event: "destroyed", executor: kind, policySha256: policy.sha256 })
    }
    await this.#written
  }

  #add(data: AuditData<"sandbox">): void {
    const record = this.#governance.record({ kind: "sandbox", data })
    this.#written = bothOf(this.#written, record)
    // Whoever waits for the end is told; until then nobody listens.
    this.#written.catch(() => {})
  }
}

function hasEvents({ kind }: ChosenExecutor): boolean {
  return kind === "docker" || kind === "jupyter"
}

async function bothOf(one: Promise<unknown>, other: Promise<unknown>): Promise<void> {
  await Promise.all([one, other])
}
