import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import { canonicalJson } from "../../internal/canonical-json.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { formatIssues } from "../../internal/format-issues.ts"
import { type GateAnswer, readAnswer } from "./gate-answer.ts"
import { type GateRequest, idSchema, readRequest } from "./gate-request.ts"

/** A request that is not used yet. */
export interface ApprovalEntry {
  readonly request: GateRequest
  answer: GateAnswer | undefined
  /** Somebody here waits for it, or holds what came of it. */
  isHeld: boolean
  /** Wakes whoever waits. */
  onAnswer: ((answer: GateAnswer) => void) | undefined
}

/** What a gate knows, as plain data. */
export interface ApprovalGateState {
  readonly type: "ApprovalGateState"
  readonly version: 1
  readonly requests: readonly { readonly request: GateRequest; readonly answer?: GateAnswer | undefined }[]
  /** Kept until they expire: what was used is not used again, also by an older state. */
  readonly used: readonly { readonly id: string; readonly expires: number }[]
}

const stateSchema = z.strictObject({
  type: z.literal("ApprovalGateState"),
  version: z.literal(1),
  requests: z.array(z.strictObject({ request: z.unknown(), answer: z.unknown().optional() })),
  used: z.array(z.strictObject({ id: idSchema, expires: z.number() })),
})

/** The requests of a gate, and the ids of those that were used. */
export class ApprovalStore {
  readonly #entries = new Map<string, ApprovalEntry>()
  readonly #used = new Map<string, number>()

  get entries(): readonly ApprovalEntry[] {
    return [...this.#entries.values()]
  }

  get(id: string): ApprovalEntry | undefined {
    return this.#entries.get(id)
  }

  isUsed(id: string): boolean {
    return this.#used.has(id)
  }

  add(request: GateRequest): ApprovalEntry {
    const entry: ApprovalEntry = { request, answer: undefined, isHeld: false, onAnswer: undefined }
    this.#entries.set(request.id, entry)
    return entry
  }

  remove(id: string): void {
    this.#entries.delete(id)
  }

  /** The oldest request for the very same, by the same agent and under the same policy, that nobody here holds. */
  find(wanted: GateRequest): ApprovalEntry | undefined {
    const same = ["kind", "sha256", "agent", "policySha256"] as const
    return this.entries.find(
      ({ request, isHeld }) =>
        !isHeld &&
        same.every((name) => request[name] === wanted[name]) &&
        // What is beyond the policy is in no hash: an approval for a sandbox is none for the machine itself.
        canonicalJson(request.widenings) === canonicalJson(wanted.widenings),
    )
  }

  /** True for the first caller, in one step: nothing is awaited in between. */
  use(id: string, expires: number): boolean {
    if (this.#used.has(id)) return false
    this.#used.set(id, expires)
    this.#entries.delete(id)
    return true
  }

  /** Forgets what has expired; what somebody waits for is theirs to end. */
  prune(now: number): readonly GateRequest[] {
    for (const [id, expires] of this.#used) if (expires <= now) this.#used.delete(id)
    const late = this.entries.filter(({ request, isHeld }) => !isHeld && request.expires <= now)
    for (const { request } of late) this.#entries.delete(request.id)
    return late.map(({ request }) => request)
  }

  save(): ApprovalGateState {
    return {
      type: "ApprovalGateState",
      version: 1,
      requests: this.entries.map(({ request, answer }) => ({ request, ...(answer && { answer }) })),
      used: [...this.#used].map(([id, expires]) => ({ id, expires })),
    }
  }

  /**
   * Adds what was saved. What is here already, or was used, stays so.
   *
   * @throws GloveboxError STATE_INVALID, and nothing is added
   */
  load(state: unknown): void {
    const { data, error } = stateSchema.safeParse(state)
    if (error) throw invalid(formatIssues(error.issues), error)
    const loaded = data.requests.map(({ request, answer }) => readEntry(request, answer))
    const other = loaded.find(({ request: { id, sha256 } }) => {
      const here = this.#entries.get(id)
      return here !== undefined && here.request.sha256 !== sha256
    })
    if (other) throw invalid(`request ${other.request.id} is another one here`)
    for (const { id, expires } of data.used) {
      this.#used.set(id, Math.max(expires, this.#used.get(id) ?? 0))
      this.#entries.delete(id)
    }
    for (const { request, answer } of loaded) {
      const { id } = request
      if (this.#used.has(id)) continue
      const entry = this.#entries.get(id) ?? this.add(request)
      if (answer !== undefined) giveAnswer(entry, answer)
    }
  }
}

/** Keeps the first answer, and wakes whoever waits for it; false when there was one. */
export function giveAnswer(entry: ApprovalEntry, answer: GateAnswer): boolean {
  if (entry.answer !== undefined) return false
  entry.answer = answer
  entry.onAnswer?.(answer)
  return true
}

function readEntry(
  saved: unknown,
  answer: unknown,
): { request: GateRequest; answer: GateAnswer | undefined } {
  const request = readRequest(saved)
  if (answer === undefined) return { request, answer: undefined }
  try {
    return { request, answer: readAnswer(request, answer) }
  } catch (error) {
    throw invalid(errorMessage(error), error)
  }
}

function invalid(why: string, cause?: unknown): GloveboxError {
  return new GloveboxError("STATE_INVALID", `The state of the approval gate is not valid: ${why}`, { cause })
}
