import { GloveboxError } from "../../core/index.ts"
import type {
  CodeBlock,
  CodeExecutor,
  CodeResult,
  ExecuteOptions,
  ExecutionEvent,
  InputFile,
  StreamOptions,
} from "../../executors/index.ts"
import { resultOf } from "../../executors/result-of.ts"
import type { PolicyChange, SandboxPolicy } from "../../policy/index.ts"
import { authorize } from "./authorize.ts"
import type { Controls } from "./controls.ts"
import type { EffectLog } from "./effect-log.ts"
import { filesPut } from "./files-put.ts"
import { executorKind } from "./executor-kind.ts"
import { reachOf } from "./executor-reach.ts"
import { policyData } from "./policy-data.ts"
import { redactThrown } from "./redact-thrown.ts"
import { runRecorded } from "./run-recorded.ts"
import { watchExecutor } from "./watch-executor.ts"

export interface GovernedExecutorOptions {
  /** Whether leave is asked for here; false where somebody has asked already. @default true */
  readonly approval?: boolean | undefined
  /** Whether what code prints is redacted; what is recorded is in any case. @default true */
  readonly redaction?: boolean | undefined
}

/** An executor behind the rules: runs are allowed, approved, recorded and traced, and what they print is redacted. */
export class GovernedExecutor implements CodeExecutor {
  readonly #executor: CodeExecutor
  readonly #controls: Controls
  readonly #asks: boolean
  readonly #redacts: boolean
  #recordedPolicy: string | undefined
  #watch: Disposable | undefined

  constructor(
    executor: CodeExecutor,
    controls: Controls,
    { approval = true, redaction = true }: GovernedExecutorOptions = {},
  ) {
    this.#executor = executor
    this.#controls = controls
    this.#asks = approval
    this.#redacts = redaction
  }

  /** That of the executor, where it tells. */
  get policy(): SandboxPolicy | undefined {
    return reachOf(this.#executor).policy
  }

  /** What its code can reach that no policy tells of. */
  get beyondPolicy(): readonly PolicyChange[] {
    return reachOf(this.#executor).beyondPolicy
  }

  get kind(): string {
    return executorKind(this.#executor)
  }

  /** Whether leave is asked for here. */
  get asks(): boolean {
    return this.#asks && this.#controls.gate !== undefined
  }

  /** Whether what runs here is written into this log: it is behind the same rules then. */
  isBehind(log: EffectLog): boolean {
    return this.#controls.log === log
  }

  get runsOnHost(): boolean {
    return this.#executor.runsOnHost === true
  }

  /** What to tell a model of the functions that its code can import; empty where there are none. */
  describeFunctions(): string {
    const { describeFunctions } = this.#executor as { readonly describeFunctions?: unknown }
    return typeof describeFunctions === "function" ? String(describeFunctions.call(this.#executor)) : ""
  }

  async start(options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    await this.#executor.start(options)
  }

  async stop(): Promise<void> {
    this.#unwatch()
    await this.#executor.stop()
  }

  async restart(): Promise<void> {
    await this.#executor.restart()
  }

  /** Puts files into the workspace of the executor, where it keeps one; the record has their hashes. @throws ACCESS_DENIED */
  async putFiles(files: readonly InputFile[], { signal }: StreamOptions = {}): Promise<void> {
    if (!this.#executor.putFiles) {
      throw new GloveboxError("WORKSPACE_FAILED", "Files cannot be put here: the executor keeps none.")
    }
    await this.authorize({ signal })
    const { agent, log } = this.#controls
    await log.record({ kind: "custom", agent, data: filesPut(files) }, { signal })
    await this.#executor.putFiles(files, { signal })
  }

  async executeCodeBlocks(
    blocks: readonly CodeBlock[],
    { signal, onOutput }: ExecuteOptions = {},
  ): Promise<CodeResult> {
    return resultOf(this.stream(blocks, { signal }), onOutput)
  }

  /** Whether the agent may use it at all: for whoever asks for leave before. @throws ACCESS_DENIED */
  async authorize({ signal }: StreamOptions = {}): Promise<void> {
    const { kind: name, policy, beyondPolicy } = this
    await authorize(this.#controls, { kind: "executor", name, policy, beyondPolicy }, signal)
  }

  /** @throws ACCESS_DENIED, an ApprovalError, or what keeps the audit log from being written */
  async *stream(
    blocks: readonly CodeBlock[],
    { signal }: StreamOptions = {},
  ): AsyncGenerator<ExecutionEvent, void, undefined> {
    const { agent, telemetry } = this.#controls
    // Of one's own: what is asked for is what runs, whatever becomes of theirs.
    const asked = blocks.map((block) => Object.freeze({ ...block }))
    const reach = reachOf(this.#executor)
    await this.authorize({ signal })
    this.#watch ??= watchExecutor(this.#executor, this.kind, this.#controls)
    const observed = telemetry.codeRun({
      agent,
      executor: this.kind,
      blocks: asked,
      policySha256: this.policy?.sha256,
    })
    try {
      const approved = await observed.run(async () => this.#approve(asked, signal))
      await this.#recordPolicy(signal)
      yield* runRecorded({
        executor: this.#executor,
        blocks: approved,
        reach,
        controls: this.#controls,
        redactor: this.#redacts ? this.#controls.redactor : undefined,
        observed,
        signal,
      })
    } catch (error) {
      observed.fail(error)
      throw redactThrown(error, this.#controls.redactor)
    } finally {
      observed.fail("Nobody wanted the rest of the run.")
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unwatch()
    await this.#executor[Symbol.asyncDispose]()
  }

  #unwatch(): void {
    this.#watch?.[Symbol.dispose]()
    this.#watch = undefined
  }

  async #approve(
    codeBlocks: readonly CodeBlock[],
    signal: AbortSignal | undefined,
  ): Promise<readonly CodeBlock[]> {
    const { gate, agent } = this.#controls
    if (!gate || !this.#asks) return codeBlocks
    const policy = this.policy && ((): SandboxPolicy | undefined => this.policy)
    const { beyondPolicy } = this
    const grant = await gate.request(
      { kind: "code", payload: { codeBlocks }, agent, policy, beyondPolicy },
      { signal },
    )
    await grant.use(grant.payload, { signal })
    return grant.payload.codeBlocks
  }

  async #recordPolicy(signal: AbortSignal | undefined): Promise<void> {
    const { policy } = this
    if (!policy || policy.sha256 === this.#recordedPolicy) return
    const { agent, log } = this.#controls
    await log.record({ kind: "policy-load", agent, data: policyData(policy, "executor") }, { signal })
    this.#recordedPolicy = policy.sha256
  }
}
