import { type Component, type ComponentModel, GloveboxError } from "../../core/index.ts"
import type { PolicyChange, SandboxPolicy, Tier } from "../../policy/index.ts"
import type { CodeBlock } from "../code-block.ts"
import type { CodeExecutor, ExecuteOptions, StreamOptions } from "../code-executor.ts"
import type { CodeResult } from "../code-result.ts"
import type { ExecutionEvent } from "../execution-event.ts"
import type { InputFile } from "../input-file.ts"
import type { KnownSecret } from "../known-secret.ts"
import type { PoolState } from "../pool-state.ts"
import type { ChosenTier, TriedTier } from "./choose-tier.ts"
import type { PolicedExecutor } from "./make-executor.ts"
import { TIER_NOTES } from "./tier-notes.ts"

/** Which sandbox an executor has, and what that means. */
export interface ExecutorDescription {
  readonly sandbox: Tier
  /** What it is, in a few words. */
  readonly what: string
  readonly because: string
  /** What came before it and was not taken. */
  readonly tried: readonly TriedTier[]
  readonly protects: readonly string[]
  readonly doesNotProtectAgainst: readonly string[]
}

/** An executor of the kind that was chosen. */
export class ChosenExecutor implements CodeExecutor, Component {
  readonly #executor: PolicedExecutor
  readonly #chosen: ChosenTier

  constructor(executor: PolicedExecutor, chosen: ChosenTier) {
    this.#executor = executor
    this.#chosen = chosen
  }

  get policy(): SandboxPolicy {
    return this.#executor.policy
  }

  get kind(): Tier {
    return this.#chosen.tier
  }

  /** What its code can reach that no policy tells of, such as devices. */
  get beyondPolicy(): readonly PolicyChange[] {
    return this.#executor.beyondPolicy
  }

  /** How many sandboxes wait and how many work; undefined before the first start, and without a sandbox. */
  get pool(): PoolState | undefined {
    return this.#executor.pool
  }

  get runsOnHost(): boolean {
    return this.#chosen.tier === "local"
  }

  /** Of the kind that was chosen: made again from data it is this kind and no other, whatever works there. */
  toComponent(): ComponentModel {
    return this.#executor.toComponent()
  }

  /** Which sandbox it is, why, and what it does not protect against. */
  describe(): ExecutorDescription {
    const { tier, because, tried } = this.#chosen
    return { sandbox: tier, because, tried, ...TIER_NOTES[tier] }
  }

  /** What to tell a model of the functions that its code can import. */
  describeFunctions(): string {
    return this.#executor.describeFunctions()
  }

  async putFiles(
    files: readonly InputFile[],
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<void> {
    if (this.#executor.putFiles) return this.#executor.putFiles(files, options)
    throw new GloveboxError(
      "WORKSPACE_FAILED",
      "Files cannot be put here: code runs in a folder of this machine.",
    )
  }

  onSecret(listener: (secret: KnownSecret) => void): Disposable {
    return this.#executor.onSecret?.(listener) ?? { [Symbol.dispose]: () => {} }
  }

  /** Undefined for kinds that do not tell of their sandboxes. */
  get onSandbox(): CodeExecutor["onSandbox"] {
    const executor = this.#executor
    return (
      executor.onSandbox && ((listener) => executor.onSandbox?.(listener) ?? { [Symbol.dispose]: () => {} })
    )
  }

  async start(options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    await this.#executor.start(options)
  }

  async stop(): Promise<void> {
    await this.#executor.stop()
  }

  async restart(): Promise<void> {
    await this.#executor.restart()
  }

  async executeCodeBlocks(blocks: readonly CodeBlock[], options?: ExecuteOptions): Promise<CodeResult> {
    return this.#executor.executeCodeBlocks(blocks, options)
  }

  stream(
    blocks: readonly CodeBlock[],
    options?: StreamOptions,
  ): AsyncGenerator<ExecutionEvent, void, undefined> {
    return this.#executor.stream(blocks, options)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#executor[Symbol.asyncDispose]()
  }
}
