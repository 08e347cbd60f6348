import { createHash } from "node:crypto"
import { WireRuntime } from "../../core/wire-runtime.test-kit.ts"
import type { Message } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import type { CodeBlock } from "../code-block.ts"
import type { CodeExecutor, ExecuteOptions } from "../code-executor.ts"
import type { Artifact, CodeResult } from "../code-result.ts"
import { codeResult } from "../code-result.test-kit.ts"
import type { ExecutionEvent } from "../execution-event.ts"
import type { InputFile } from "../input-file.ts"
import { resultOf } from "../result-of.ts"
import { RemoteCodeExecutor } from "./remote-code-executor.ts"
import type { RemoteCodeExecutorOptions } from "./remote-options.ts"
import { type ServedCodeExecutor, serveCodeExecutor } from "./serve-code-executor.ts"
import type { ServeCodeExecutorOptions } from "./serve-options.ts"

export type Script = (
  blocks: readonly CodeBlock[],
  signal: AbortSignal,
) => AsyncGenerator<ExecutionEvent, void, undefined>

export const BLOCK: CodeBlock = { language: "python", code: "print(1)" }
export const SANDBOX = {
  kind: "docker",
  policySha256: "0".repeat(64),
  isolation: "run",
  effective: {},
} as const

/** An executor that runs nothing: its runs go as a script says. */
export class ScriptedExecutor implements CodeExecutor {
  readonly kind: string = "docker"
  readonly policy = new SandboxPolicy({ limits: { wall: "10s" } })
  readonly ran: (readonly CodeBlock[])[] = []
  readonly files: InputFile[] = []
  readonly #script: Script
  starts = 0
  stops = 0
  restarts = 0
  running = 0

  constructor(script: Script = saying("")) {
    this.#script = script
  }

  async start(): Promise<void> {
    this.starts += 1
  }

  async stop(): Promise<void> {
    this.stops += 1
  }

  async restart(): Promise<void> {
    this.restarts += 1
  }

  async putFiles(files: readonly InputFile[]): Promise<void> {
    this.files.push(...files)
  }

  describeFunctions(): string {
    return "def add(a, b): ..."
  }

  async executeCodeBlocks(blocks: readonly CodeBlock[], options: ExecuteOptions = {}): Promise<CodeResult> {
    return resultOf(this.stream(blocks, options), options.onOutput)
  }

  async *stream(
    blocks: readonly CodeBlock[],
    { signal = new AbortController().signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<ExecutionEvent, void, undefined> {
    this.ran.push(blocks)
    this.running += 1
    try {
      yield* this.#script(blocks, signal)
    } finally {
      this.running -= 1
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}

/** A run that prints a text and ends. */
export function saying(text: string, result: Partial<CodeResult> = {}): Script {
  return async function* script(blocks) {
    yield { type: "started", blocks: blocks.length }
    if (text !== "") yield output(text)
    yield finished({ stdout: text, output: text, ...result })
  }
}

/** A run that prints something and comes to no end. */
export const endless: Script = async function* endless(_blocks, signal) {
  yield output("begun\n")
  await abortable(new Promise<never>(() => {}), signal)
}

/** A run that fails before anything. */
export function failing(cause: unknown): Script {
  return async function* script() {
    yield await Promise.reject<ExecutionEvent>(cause)
  }
}

export function output(text: string): ExecutionEvent {
  return { type: "stdout", block: 0, text, bytes: new Uint8Array(Buffer.from(text)) }
}

export function finished(result: Partial<CodeResult> = {}): ExecutionEvent {
  return { type: "finished", result: codeResult({ sandbox: SANDBOX, ...result }) }
}

export function artifact(path: string, content: string | Uint8Array): Artifact {
  const bytes = new Uint8Array(Buffer.from(content))
  const sha256 = createHash("sha256").update(bytes).digest("hex")
  return { path, size: bytes.length, sha256, executable: false, content: bytes }
}

/** A runtime that keeps all that goes over its wire. */
export class RecordedRuntime extends WireRuntime {
  readonly wire: Uint8Array[] = []

  override pack(message: Message): Message {
    const packed = super.pack(message)
    if ("data" in packed && packed.data instanceof Uint8Array) this.wire.push(packed.data)
    return packed
  }
}

export interface Served extends AsyncDisposable {
  readonly runtime: RecordedRuntime
  readonly service: ServedCodeExecutor
  readonly client: (options?: Partial<RemoteCodeExecutorOptions>) => RemoteCodeExecutor
}

/** A runtime that serves an executor and is gone with the test. */
export async function served(
  executor: CodeExecutor | ServeCodeExecutorOptions["executor"],
  options: Omit<ServeCodeExecutorOptions, "executor"> = {},
): Promise<Served> {
  const runtime = new RecordedRuntime()
  const make = typeof executor === "function" ? executor : (): CodeExecutor => executor
  const service = await serveCodeExecutor(runtime, { executor: make, ...options })
  return {
    runtime,
    service,
    client: (given) => new RemoteCodeExecutor({ runtime, ...given }),
    [Symbol.asyncDispose]: () => runtime.inner.close(),
  }
}
