import { randomUUID } from "node:crypto"
import { GloveboxError, type Message, type MessageContext, RoutedAgent } from "../../core/index.ts"
import { atMost } from "../../internal/at-most.ts"
import type { ToldDescription } from "./describe-executor.ts"
import type { ExecutorService } from "./executor-service.ts"
import {
  ExecutorAck,
  ExecutorCancel,
  ExecutorChunk,
  ExecutorControl,
  ExecutorKeep,
  ExecutorPut,
  ExecutorRead,
  ExecutorRun,
  ExecutorState,
  ExecutorUpload,
} from "./messages.ts"
import { ServedKey } from "./served-key.ts"
import { toldError } from "./told-error.ts"

type Request<Type extends { parse(value: unknown): Message }> = ReturnType<Type["parse"]>

// Asked again under the same id, a client waits on for what it began.
const MAX_OPERATIONS = 16

/** Runs code for the clients that have its key, in an executor of their own. `serveCodeExecutor` registers it. */
export class CodeExecutionAgent extends RoutedAgent {
  readonly #service: ExecutorService
  readonly #key: ServedKey
  readonly #operations = new Map<string, Promise<ToldDescription>>()
  readonly #idle: NodeJS.Timeout
  #handling = 0
  #isStopped = false
  #isLeaving = false

  constructor(service: ExecutorService) {
    super("Runs code blocks in a sandbox of its machine.")
    this.#service = service
    this.#key = new ServedKey(service, this.id.key)
    this.#idle = setTimeout(() => this.#leave(), service.options.idleMs).unref()
    const rpc = { kind: "rpc" } as const
    this.on(ExecutorControl, (message) => this.#serve(() => this.#control(message)), rpc)
    this.on(ExecutorUpload, (message) => this.#serve(() => this.#upload(message)), rpc)
    this.on(ExecutorRun, (message, context) => this.#serve(() => this.#run(message, context)), rpc)
    this.on(ExecutorRead, (message, context) => this.#serve(() => this.#read(message, context)), rpc)
    this.on(ExecutorPut, (message) => this.#serve(() => this.#put(message)), rpc)
    this.on(ExecutorKeep, (message) => this.#serve(() => this.#keep(message)), rpc)
    this.on(ExecutorCancel, (message) => this.#serve(() => this.#cancel(message)), rpc)
  }

  /** How many runs there are, those that wait included. */
  get runs(): number {
    return this.#key.runs
  }

  /** Stopped by its client, with nothing to do. */
  get isResting(): boolean {
    return this.#isStopped && this.runs === 0 && this.#operations.size === 0
  }

  override async close(): Promise<void> {
    clearTimeout(this.#idle)
    this.#service.forget(this)
    await this.#key.close()
  }

  async #serve(work: () => Message | Promise<Message>): Promise<Message> {
    this.#handling += 1
    try {
      this.#admit()
      return await work()
    } catch (error) {
      throw toldError(error, this.#service.logger, this.id.key)
    } finally {
      this.#handling -= 1
      this.#idle.refresh()
    }
  }

  #admit(): void {
    try {
      this.#service.admit(this)
    } catch (error) {
      // There may be any number of keys that are refused: none of them may stay. After this message, which it waits for.
      setImmediate(() => void this.#service.remove(this.id))
      throw error
    }
  }

  async #control({ id, action, waitMs }: Request<typeof ExecutorControl>): Promise<Message> {
    const operation = this.#operations.get(id) ?? this.#begin(id, action)
    const { instance } = this.#key
    let isDone = false
    const settled = operation.then(
      () => (isDone = true),
      () => (isDone = true),
    )
    await atMost(settled, waitMs)
    if (!isDone) return ExecutorState({ done: false, instance })
    this.#operations.delete(id)
    return ExecutorState({ done: true, instance, description: await operation })
  }

  #begin(id: string, action: "start" | "stop" | "restart"): Promise<ToldDescription> {
    if (this.#operations.size >= MAX_OPERATIONS) {
      throw new GloveboxError("TRY_LATER", "Too much is begun and not yet done. Wait for it.")
    }
    if (action !== "stop") this.#service.checkNew()
    this.#isStopped = action === "stop"
    const operation = this.#key.control(action)
    this.#operations.set(id, operation)
    // The client may never ask how it ended.
    const forget = (): void => {
      setTimeout(() => this.#operations.delete(id), this.#service.options.leaseMs).unref()
    }
    operation.then(forget, forget)
    return operation
  }

  #upload(message: Request<typeof ExecutorUpload>): Message {
    this.#key.uploads.add(message)
    return this.#ack()
  }

  async #run(message: Request<typeof ExecutorRun>, { signal }: MessageContext): Promise<Message> {
    const instance = this.#instance
    const { id, events, waitMs } = message
    if (message.instance !== instance) {
      // What was described to the client is gone: nothing is run before it knows what there is now.
      this.#key.uploads.drop(id)
      return ExecutorChunk({ seq: 0, data: "", end: true, instance })
    }
    this.#service.checkNew()
    const run = this.#key.begin(id, this.#key.uploads.finish(message), events, () => this.#runEnded())
    return ExecutorChunk({ ...(await run.read(0, waitMs, signal)), instance })
  }

  async #read(
    { id, seq, waitMs }: Request<typeof ExecutorRead>,
    { signal }: MessageContext,
  ): Promise<Message> {
    const { instance } = this.#key
    return ExecutorChunk({ ...(await this.#key.run(id).read(seq, waitMs, signal)), instance })
  }

  async #put(message: Request<typeof ExecutorPut>): Promise<Message> {
    const body = this.#key.uploads.finish(message)
    // Into another executor than the one that was described they do not go; the client sees that by the instance.
    const instance = this.#instance
    if (message.instance === instance) await this.#key.put(body)
    return ExecutorAck({ instance })
  }

  #keep({ id }: Request<typeof ExecutorKeep>): Message {
    this.#key.run(id).keep()
    return this.#ack()
  }

  async #cancel({ id }: Request<typeof ExecutorCancel>): Promise<Message> {
    await this.#key.cancel(id)
    return this.#ack()
  }

  // A message that was on its way when this was taken out is for the next one: what began here would be ended at once.
  get #instance(): string {
    return this.#isLeaving ? randomUUID() : this.#key.instance
  }

  #ack(): Message {
    return ExecutorAck({ instance: this.#key.instance })
  }

  #runEnded(): void {
    this.#idle.refresh()
    this.#service.runEnded()
  }

  #leave(): void {
    // Somebody is at it: another look later.
    if (this.#handling > 0 || this.runs > 0) return void this.#idle.refresh()
    this.#isLeaving = true
    void this.#service.remove(this.id)
  }
}
