import { readdir } from "node:fs/promises"
import type { TaskResult } from "../../chat/task/index.ts"
import { GloveboxError } from "../../core/index.ts"
import type { OutputRedaction } from "../output-redaction.ts"
import { answerText } from "../run/answer-of.ts"
import type { At } from "../run/job-setup.ts"
import type { Job } from "../run/make-job.ts"
import type { CommandGovernance } from "../governance/command-governance.ts"
import type { RecordedExecutor } from "../run/recorded-executor.ts"
import { type ShowRunOptions, showRun } from "../run/show-run.ts"
import type { ChatStore, SavedChat } from "./chat-store.ts"
import { redactState } from "./redact-state.ts"

export interface ChatSessionOptions {
  readonly name: string
  readonly store: ChatStore
  readonly job: Job
  readonly executor: RecordedExecutor
  readonly governed: CommandGovernance
  /** As it is kept. */
  readonly model: string
  readonly kind: SavedChat["kind"]
  /** The folder of the chat's files. */
  readonly files: string
  readonly view: ShowRunOptions
  /** Of all that is kept. */
  readonly redaction: OutputRedaction
}

/** A conversation with a model, kept after each turn. */
export class ChatSession {
  readonly #options: ChatSessionOptions
  #turns: SavedChat["turns"] = []
  #hasFailed = false

  constructor(options: ChatSessionOptions) {
    this.#options = options
  }

  /** Whether any turn came to no answer. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Goes on where a chat ended. */
  async resume({ state, turns, kind, model }: SavedChat): Promise<void> {
    const { name, job } = this.#options
    if (kind !== this.#options.kind) {
      const way = { tools: "calls tools", fences: "writes code between fences" }
      throw new GloveboxError(
        "STATE_INVALID",
        `Chat ${name} was with ${model}, which ${way[kind]}, and ${this.#options.model} ${way[this.#options.kind]}. Use that model, or begin another chat: --new`,
      )
    }
    try {
      await job.loadState(state)
    } catch (cause) {
      if (!GloveboxError.is(cause)) throw cause
      throw new GloveboxError(
        "STATE_INVALID",
        `What was kept of chat ${name} cannot be gone on with: it was changed, or written by another release. Begin another: glovebox chat --new`,
        { cause },
      )
    }
    this.#turns = turns
  }

  /** One turn: shows it, and keeps the chat. An abort is told, not thrown, and the chat goes on after it. */
  async say(given: string, turn: AbortSignal, at: At): Promise<void> {
    // What the user says stays without secrets wherever it goes, and where it is kept.
    const task = this.#options.redaction.text(given)
    try {
      const result = await this.#run(task, { ...at, signal: AbortSignal.any([turn, at.signal]) })
      this.#turns = [...this.#turns, { task, answer: answerText(result) }]
    } catch (error) {
      at.signal.throwIfAborted()
      if (turn.aborted) at.output.note("cancelled; the chat goes on")
      // A model that does not answer now may answer later.
      else if (GloveboxError.is(error)) at.output.note(error.message)
      else throw error
      this.#hasFailed = true
    }
    await this.save()
  }

  async #run(task: string, at: At): Promise<TaskResult> {
    const { job, view, governed, model, executor, name } = this.#options
    const { sandbox } = executor.describe()
    const details = { chat: name, model, sandbox, policySha256: executor.policy.sha256 }
    const record = await governed.beginRun(task, details, at.signal)
    try {
      const stream = job.runStream(task, { signal: at.signal, outputTaskMessages: false })
      const result = await showRun(stream, view, at)
      await record.end({ ...result, answer: answerText(result) })
      return result
    } catch (error) {
      await record.fail(error, at.signal)
      throw error
    }
  }

  async save(): Promise<void> {
    const { name, store, job, model, kind, redaction } = this.#options
    const state = redactState(await job.saveState(), redaction.redactor)
    // Also of earlier ones: what is a secret now may not have been one then.
    this.#turns = this.#turns.map(({ task, answer }) => ({
      task: redaction.text(task),
      answer: redaction.text(answer),
    }))
    await store.save(name, { model, kind, turns: this.#turns, state })
  }

  /** Forgets what was said, and the variables; the files stay. */
  async reset(): Promise<void> {
    const { job, executor } = this.#options
    await job.reset()
    await executor.restart()
    this.#turns = []
    await this.save()
  }

  async files(): Promise<readonly string[]> {
    const entries = await readdir(this.#options.files, { recursive: true, withFileTypes: true }).catch(
      () => [],
    )
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`.slice(this.#options.files.length + 1))
      .toSorted()
  }

  /** What was said, to read. */
  toMarkdown(): string {
    return this.#turns.map(({ task, answer }) => `## ${task.trim()}\n\n${answer}\n`).join("\n")
  }
}
