import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import type { CodeExecutor, CodeResult } from "../../executors/index.ts"
import type { PolicyFields } from "../../policy/index.ts"
import type { CommandOutput } from "../command-output.ts"
import { describeDenials } from "../describe-denials.ts"
import { describeEnd } from "../describe-end.ts"
import { expressionCell } from "./expression-cell.ts"

export interface ReplSessionOptions {
  readonly executor: CodeExecutor
  /** A kernel shows values and keeps its variables when it is interrupted; other interpreters do neither. */
  readonly isKernel: boolean
  readonly limits: PolicyFields["limits"]
  readonly output: CommandOutput
  /** Where what is shown is saved; else a folder is made for it. */
  readonly workDir: string | undefined
}

const GONE = "its interpreter was ended, and the variables with it"

/** Cells that share variables, run one after the other. */
export class ReplSession {
  readonly #options: ReplSessionOptions
  #count = 0
  #folder: Promise<string> | undefined
  #hasFailed = false

  constructor(options: ReplSessionOptions) {
    this.#options = options
  }

  /** Whether any cell did not end well. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Runs a cell and prints what it says and shows; an abort is told, not thrown. */
  async run(source: string, signal: AbortSignal): Promise<void> {
    const { executor, output, isKernel } = this.#options
    this.#count += 1
    const name = `cell-${this.#count}.py`
    const block = isKernel
      ? { language: "python", code: source, file: name }
      : { language: "python", code: expressionCell(source, name) }
    let last = "\n"
    let result: CodeResult | undefined
    try {
      for await (const event of executor.stream([block], { signal })) {
        if (event.type === "finished") result = event.result
        if (event.type !== "stdout" && event.type !== "stderr") continue
        last = event.text.at(-1) ?? last
        await output[event.type].writeOutput(event, signal)
      }
    } catch (error) {
      this.#hasFailed = true
      if (!signal.aborted) throw error
      if (last !== "\n") output.stderr.put("\n")
      output.note(isKernel ? "interrupted" : `interrupted: ${GONE}`)
      return
    }
    // A prompt is to begin a line.
    if (last !== "\n" && output.stdout.isTerminal) output.stdout.put("\n")
    if (result) await this.#tell(result)
  }

  async restart(): Promise<void> {
    await this.#options.executor.restart()
    this.#count = 0
  }

  async #tell(result: CodeResult): Promise<void> {
    const { output, isKernel, limits } = this.#options
    if (result.exitCode !== 0) this.#hasFailed = true
    for (const line of describeEnd(result.blocks, 1, limits)) output.note(line)
    for (const line of describeDenials(result)) output.note(line)
    if (result.stateLost) output.note(result.stateLostBecause ?? GONE)
    else if (result.termination !== "exit" && !isKernel) output.note(GONE)
    const shown = new Set(result.outputs?.flatMap(({ artifact }) => artifact ?? []))
    for (const { path, content } of result.artifacts) {
      if (shown.has(path)) output.note(`saved ${await this.#save(path, content)}`)
    }
  }

  async #save(path: string, content: Uint8Array): Promise<string> {
    const { workDir } = this.#options
    // It has come out there already, with the other files.
    if (workDir !== undefined) return join(workDir, path)
    this.#folder ??= mkdtemp(join(tmpdir(), "glovebox-repl-"))
    const file = join(await this.#folder, basename(path))
    await writeFile(file, content)
    return file
  }
}
