import { type CodeRun, toCodeRun } from "../../chat/messages/index.ts"
import type {
  ChosenExecutor,
  CodeBlock,
  CodeExecutor,
  CodeResult,
  ExecuteOptions,
  ExecutionEvent,
  ExecutorDescription,
  StreamOptions,
} from "../../executors/index.ts"
import { resultOf } from "../../executors/result-of.ts"
import type { PolicyChange, SandboxPolicy, Tier } from "../../policy/index.ts"
import type { OutputRedaction } from "../output-redaction.ts"
import { codeSha256 } from "./code-sha256.ts"

/** A run of code, as it is told afterwards. */
export interface RecordedRun {
  readonly languages: readonly string[]
  /** Of the code itself; of several blocks, joined by empty lines. */
  readonly codeSha256: string
  /** Undefined when the run was ended before its end. */
  readonly run: CodeRun | undefined
  /** What the sandbox said of its network. */
  readonly network: string | undefined
  /** Whether files that it made were too many or too large to be brought out, or had names that are not. */
  readonly artifactsTruncated: boolean
}

/** Adds to what is told of a run. */
export type Annotate = (recorded: RecordedRun) => RecordedRun

export interface RecordedExecutorOptions {
  /** Of what is remembered, which is shown later. */
  readonly redaction: OutputRedaction
  readonly annotate?: Annotate | undefined
}

/** Remembers what ran, whoever ran it. */
export class RecordedExecutor implements CodeExecutor {
  readonly #executor: ChosenExecutor
  readonly #options: RecordedExecutorOptions
  readonly #runs: RecordedRun[] = []

  constructor(executor: ChosenExecutor, options: RecordedExecutorOptions) {
    this.#executor = executor
    this.#options = options
  }

  get kind(): Tier {
    return this.#executor.kind
  }

  get beyondPolicy(): readonly PolicyChange[] {
    return this.#executor.beyondPolicy
  }

  get pool(): ChosenExecutor["pool"] {
    return this.#executor.pool
  }

  get policy(): SandboxPolicy {
    return this.#executor.policy
  }

  onSecret(...told: Parameters<ChosenExecutor["onSecret"]>): Disposable {
    return this.#executor.onSecret(...told)
  }

  describe(): ExecutorDescription {
    return this.#executor.describe()
  }

  /** In the order in which they ended. */
  get runs(): readonly RecordedRun[] {
    return this.#runs
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

  async executeCodeBlocks(
    blocks: readonly CodeBlock[],
    { signal, onOutput }: ExecuteOptions = {},
  ): Promise<CodeResult> {
    return resultOf(this.stream(blocks, { signal }), onOutput)
  }

  async *stream(
    blocks: readonly CodeBlock[],
    options?: StreamOptions,
  ): AsyncGenerator<ExecutionEvent, void, undefined> {
    let result: CodeResult | undefined
    try {
      for await (const event of this.#executor.stream(blocks, options)) {
        if (event.type === "finished") ({ result } = event)
        yield event
      }
    } finally {
      const { annotate = (recorded: RecordedRun) => recorded } = this.#options
      this.#runs.push(
        annotate({
          languages: blocks.map(({ language }) => language),
          codeSha256: codeSha256(blocks),
          run: result && this.#told(result),
          network: result && networkOf(result),
          artifactsTruncated: result?.artifactsTruncated ?? false,
        }),
      )
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#executor[Symbol.asyncDispose]()
  }

  #told(result: CodeResult): CodeRun {
    const run = toCodeRun(result)
    return { ...run, output: this.#options.redaction.text(run.output) }
  }
}

function networkOf({ sandbox: { effective } }: CodeResult): string | undefined {
  const { network } = effective
  return typeof network === "string" ? network : undefined
}
