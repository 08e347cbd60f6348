import { FakeExecutor } from "../../chat/agents/code-executor/fake-executor.test-kit.ts"
import type { EgressEvent } from "../../egress/index.ts"
import type { CodeBlock, CodeResult, ExecutionEvent } from "../../executors/index.ts"
import { codeResult } from "../../executors/code-result.test-kit.ts"
import type { AuditEntry, AuditSink } from "../audit/index.ts"
import { sha256Of } from "../audit/index.ts"

/** An executor that tells these events and no others. */
export class Telling extends FakeExecutor {
  readonly told: readonly ExecutionEvent[]

  constructor(...told: readonly ExecutionEvent[]) {
    super()
    this.told = told
  }

  override async *stream(blocks: readonly CodeBlock[]): AsyncGenerator<ExecutionEvent, void, undefined> {
    this.ran.push(blocks)
    yield* this.told
  }
}

export const finished = (fields: Partial<CodeResult> = {}): ExecutionEvent => ({
  type: "finished",
  result: codeResult({
    sandbox: { kind: "fake", policySha256: sha256Of("policy"), isolation: "run", effective: {} },
    ...fields,
  }),
})

export const connection = (
  host: string,
  fields: Partial<EgressEvent["connection"]> = {},
  state: EgressEvent["state"] = "denied",
): EgressEvent => ({
  state,
  connection: {
    id: 1,
    via: "connect",
    host,
    port: 443,
    verdict: "denied",
    bytesUp: 0,
    bytesDown: 0,
    durationMs: 0,
    ...fields,
  },
})

/** Takes records into memory; what it is given may do something first, such as fail. */
export class MemorySink implements AuditSink {
  readonly entries: AuditEntry[] = []
  readonly #before: (entry: AuditEntry, index: number) => unknown

  constructor(before: (entry: AuditEntry, index: number) => unknown = () => {}) {
    this.#before = before
  }

  /** In short: kind and phase. */
  get told(): string[] {
    return this.entries.map(({ kind, data }) => ("phase" in data ? `${kind} ${data.phase}` : kind))
  }

  append(entry: AuditEntry): ReturnType<AuditSink["append"]> {
    const before = this.#before(entry, this.entries.length)
    return Promise.resolve(before).then(() => {
      this.entries.push(entry)
      return { seq: this.entries.length, hash: "", at: "" }
    })
  }
}
