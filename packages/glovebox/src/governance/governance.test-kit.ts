import type { AuditRecord } from "./audit/index.ts"
import { AuditFolder } from "./audit/audit-folder.test-kit.ts"
import { Governance, type GovernanceOptions, verifyAuditLog } from "./index.ts"

/** A governance that writes into a folder of one test. */
export class GovernedPlace implements AsyncDisposable {
  readonly folder: AuditFolder
  readonly governance: Governance

  private constructor(folder: AuditFolder, governance: Governance) {
    this.folder = folder
    this.governance = governance
  }

  static async make(options: GovernanceOptions = {}): Promise<GovernedPlace> {
    const folder = await AuditFolder.make()
    return new GovernedPlace(folder, new Governance({ audit: { path: folder.path }, ...options }))
  }

  /** What was recorded, without what the log says of itself; the chain is whole. */
  async records(): Promise<AuditRecord[]> {
    const { ok, problem } = await verifyAuditLog(this.folder.path).then(
      (verification) => ({ ok: verification.ok, problem: verification }),
      (error: unknown) => ({ ok: false, problem: error }),
    )
    if (!ok) throw new Error(`The chain is broken: ${JSON.stringify(problem)}`)
    return (await this.folder.records()).filter(({ kind }) => !kind.startsWith("log"))
  }

  /** In short: kind, and phase or state where there is one. */
  async told(): Promise<string[]> {
    return (await this.records()).map(({ kind, data }) => {
      const more = data["phase"] ?? data["state"] ?? data["outcome"] ?? data["action"]
      return typeof more === "string" ? `${kind} ${more}` : kind
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.governance.close()
    await this.folder[Symbol.asyncDispose]()
  }
}
