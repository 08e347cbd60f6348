import { randomUUID } from "node:crypto"
import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import { Slots } from "../../internal/slots.ts"
import type { CodeBlock } from "../code-block.ts"
import type { CodeExecutor } from "../code-executor.ts"
import { type ToldDescription, describeExecutor } from "./describe-executor.ts"
import type { ExecutorService } from "./executor-service.ts"
import { readFiles } from "./file-frames.ts"
import type { Frame } from "./frame.ts"
import { ServedRun } from "./served-run.ts"
import { ErrorForClients } from "./told-error.ts"
import { Uploads } from "./uploads.ts"
import { type EventChoice, EventWriter } from "./write-event.ts"

// Empty blocks cost their sender little, and each is a result.
const MAX_BLOCKS = 1000

const blocksSchema = z.strictObject({
  blocks: z
    .array(z.strictObject({ code: z.string(), language: z.string(), file: z.string().optional() }))
    .min(1)
    .max(MAX_BLOCKS),
})

/** The executor of one key, with its runs. */
export class ServedKey {
  readonly instance = randomUUID()
  readonly uploads: Uploads
  readonly #service: ExecutorService
  readonly #key: string
  readonly #slots: Slots
  readonly #runs = new Map<string, ServedRun>()
  #executor: Promise<CodeExecutor> | undefined
  #isClosed = false

  constructor(service: ExecutorService, key: string) {
    const { maxRequestBytes, maxPendingBytes, maxQueuedPerKey: maxCount } = service.options
    const { maxRunsPerKey, leaseMs } = service.options
    // What can never have room is too large, and not to be tried again.
    const maxBytes = Math.min(maxRequestBytes, maxPendingBytes)
    this.#service = service
    this.#key = key
    this.#slots = new Slots(maxRunsPerKey)
    this.uploads = new Uploads({ maxBytes, maxCount, leaseMs, budget: service.budget })
  }

  get runs(): number {
    return this.#runs.size
  }

  async control(action: "start" | "stop" | "restart"): Promise<ToldDescription> {
    const executor = await this.#get()
    await executor[action]()
    return describeExecutor(executor)
  }

  /** Begins a run with what was uploaded. */
  begin(id: string, body: Buffer, choice: EventChoice, onOver: () => void): ServedRun {
    const { maxQueuedPerKey, leaseMs, idleMs } = this.#service.options
    const blocks = readBlocks(body)
    if (this.#runs.has(id)) throw new GloveboxError("MESSAGE_INVALID", "There is such a run already.")
    if (this.#runs.size >= maxQueuedPerKey) {
      throw new GloveboxError("TRY_LATER", `${maxQueuedPerKey} runs wait already. Wait for one of them.`)
    }
    // However long it waits for its turn, its code is in memory.
    const letGo = this.#service.budget.hold(body.length)
    const run = new ServedRun({
      leaseMs,
      unreadMs: idleMs,
      work: (write, signal) => this.#run(blocks, new EventWriter(choice), choice, write, signal),
      onOver: () => {
        this.#runs.delete(id)
        letGo()
        onOver()
      },
    })
    this.#runs.set(id, run)
    return run
  }

  /** Puts what was uploaded into the workspace. */
  async put(body: Buffer): Promise<void> {
    const files = readFiles(body)
    const letGo = this.#service.budget.hold(body.length)
    try {
      const executor = await this.#get()
      if (!executor.putFiles) throw new GloveboxError("WORKSPACE_FAILED", "It has no putFiles.")
      await executor.putFiles(files)
    } catch (cause) {
      if (!GloveboxError.is(cause, "WORKSPACE_FAILED")) throw cause
      throw new ErrorForClients(
        "WORKSPACE_FAILED",
        "The workspace does not take these files: it keeps none between calls, or they are more than it holds.",
        { cause },
      )
    } finally {
      letGo()
    }
  }

  run(id: string): ServedRun {
    const run = this.#runs.get(id)
    if (run) return run
    throw new GloveboxError(
      "SANDBOX_LOST",
      "There is no such run: it has ended, or was ended because nobody read it.",
    )
  }

  /** Ends a run or what was uploaded for one; whether there is one does not matter. */
  async cancel(id: string): Promise<void> {
    this.uploads.drop(id)
    await this.#runs.get(id)?.cancel()
  }

  /** Ends everything of this key. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.uploads.close()
    const reason = new GloveboxError("EXECUTOR_STOPPED", "The executor of this key was ended.")
    const runs = [...this.#runs.values()].map((run) => run.cancel(reason))
    const executor = await this.#executor?.catch(() => undefined)
    await executor?.stop()
    await Promise.all(runs)
  }

  async #run(
    blocks: readonly CodeBlock[],
    writer: EventWriter,
    choice: EventChoice,
    write: (frame: Frame) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const giveBack = await this.#place(signal)
    try {
      const executor = await this.#get()
      if (choice === "none") {
        const result = await executor.executeCodeBlocks(blocks, { signal })
        for (const frame of writer.finished(result)) await write(frame)
        return
      }
      for await (const event of executor.stream(blocks, { signal })) {
        for (const frame of writer.write(event)) await write(frame)
      }
    } finally {
      giveBack()
    }
  }

  /** A place among the key's runs, and then one among all. */
  async #place(signal: AbortSignal): Promise<() => void> {
    const giveBack = await this.#slots.take(signal)
    try {
      const giveBackShared = await this.#service.slots.take(signal)
      return () => {
        giveBackShared()
        giveBack()
      }
    } catch (error) {
      giveBack()
      throw error
    }
  }

  async #get(): Promise<CodeExecutor> {
    if (this.#isClosed) throw new GloveboxError("EXECUTOR_STOPPED", "The executor of this key was ended.")
    this.#executor ??= this.#service.make(this.#key).catch((error: unknown) => {
      this.#executor = undefined
      throw error
    })
    return this.#executor
  }
}

function readBlocks(body: Buffer): readonly CodeBlock[] {
  try {
    return blocksSchema.parse(JSON.parse(body.toString())).blocks
  } catch (cause) {
    throw new GloveboxError(
      "CODE_BLOCK_INVALID",
      `What was sent is no list of 1 to ${MAX_BLOCKS} code blocks.`,
      { cause },
    )
  }
}
