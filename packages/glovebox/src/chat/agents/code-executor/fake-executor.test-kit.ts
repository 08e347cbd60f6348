import type { CodeBlock, CodeExecutor, CodeResult, ExecutionEvent } from "../../../executors/index.ts"
import { codeResult } from "../../../executors/code-result.test-kit.ts"
import { abortable } from "../../../internal/abortable.ts"
import { SandboxPolicy } from "../../../policy/index.ts"

const SANDBOX = { kind: "fake", policySha256: "0".repeat(64), isolation: "run", effective: {} } as const

/** A run that prints something and comes to no end. */
export const ENDLESS = Symbol("endless")

/** How a run goes: what it prints, its result, an error, or never to an end. */
export type FakeRun = string | Partial<CodeResult> | Error | typeof ENDLESS

/** An executor that runs nothing: its runs go as they were written down, one after another. */
export class FakeExecutor implements CodeExecutor {
  readonly policy = new SandboxPolicy({ limits: { wall: "10s" } })
  readonly ran: (readonly CodeBlock[])[] = []
  readonly #runs: FakeRun[]
  restarts = 0
  stops = 0
  running = 0

  constructor(...runs: readonly FakeRun[]) {
    this.#runs = [...runs]
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.stops += 1
  }

  async restart(): Promise<void> {
    this.restarts += 1
  }

  async executeCodeBlocks(): Promise<CodeResult> {
    throw new Error("The agents use stream().")
  }

  async *stream(
    blocks: readonly CodeBlock[],
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<ExecutionEvent, void, undefined> {
    this.ran.push(blocks)
    const run = this.#runs.shift() ?? ""
    this.running += 1
    try {
      if (run instanceof Error) throw run
      yield { type: "started", blocks: blocks.length }
      if (run === ENDLESS) {
        yield { type: "stdout", block: 0, text: "begun\n", bytes: Buffer.from("begun\n") }
        await abortable(new Promise<never>(() => {}), signal)
        return
      }
      const { stdout = "", stderr = "", ...rest } = typeof run === "string" ? { stdout: run } : run
      for (const [type, text] of [
        ["stdout", stdout],
        ["stderr", stderr],
      ] as const) {
        yield { type, block: 0, text, bytes: Buffer.from(text) }
      }
      yield {
        type: "finished",
        result: codeResult({ sandbox: SANDBOX, output: stdout + stderr, stdout, stderr, ...rest }),
      }
    } finally {
      this.running -= 1
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}

/** One whose policy reaches further than deny-all, so that somebody is asked. */
export class WideExecutor extends FakeExecutor {
  override readonly policy = new SandboxPolicy({ network: { allow: ["example.com:443"] } })
}

/** One without a wall, whose policy is deny-all all the same. */
export class HostExecutor extends FakeExecutor {
  readonly runsOnHost = true
}

/** A run that ends with an error. */
export function failing(stderr: string): Partial<CodeResult> {
  return { stderr, exitCode: 1 }
}

/** Code as a model writes it. */
export function python(code: string): string {
  return `Here it is:\n\n\`\`\`python\n${code}\n\`\`\``
}
