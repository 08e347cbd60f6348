import type { AccessGuard, AccessRequest } from "../../core/access-guard.ts"
import { GloveboxError } from "../../core/index.ts"
import type { Telemetry } from "../telemetry/index.ts"
import type { EffectLog } from "./effect-log.ts"

/** A guard whose denials are written down before anybody hears of them. */
export class AuditedAccess implements AccessGuard {
  readonly #guard: AccessGuard
  readonly #log: EffectLog
  readonly #telemetry: Telemetry

  constructor(guard: AccessGuard, log: EffectLog, telemetry: Telemetry) {
    this.#guard = guard
    this.#log = log
    this.#telemetry = telemetry
  }

  allows(request: AccessRequest): boolean {
    return this.#guard.allows(request)
  }

  async authorize(
    request: AccessRequest,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<void> {
    try {
      await this.#guard.authorize(request, options)
    } catch (error) {
      if (!GloveboxError.is(error, "ACCESS_DENIED")) throw error
      const { agent, kind, name } = request
      this.#telemetry.denied({ agent, kind: "access", name })
      const data = { subject: agent, target: `${kind} ${name}`, reason: error.message }
      await this.#log.record({ kind: "access-denied", agent, data }, options)
      throw error
    }
  }
}
