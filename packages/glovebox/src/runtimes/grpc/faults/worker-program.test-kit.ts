import { Console } from "node:console"
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import {
  GloveboxError,
  type MessageContext,
  RoutedAgent,
  agentId,
  defineMessage,
  formatAgentId,
  topicId,
  typeSubscription,
} from "../../../core/index.ts"
import { GrpcWorkerAgentRuntime, type GrpcWorkerAgentRuntimeOptions, type WorkerStatus } from "../index.ts"
import { answerLines, memory } from "./program-lines.test-kit.ts"
import { Recorder } from "./record.test-kit.ts"

/** What a worker program is started with. */
export interface WorkerProgramOptions {
  readonly name: string
  readonly record: string
  readonly runtime: GrpcWorkerAgentRuntimeOptions
  /** Whether it has agents, or only sends. */
  readonly hasAgents: boolean
}

const Work = defineMessage(
  "Work",
  z.object({ id: z.string(), ms: z.number(), hops: z.number(), padding: z.string() }),
)
const Done = defineMessage("Done", z.object({ by: z.string() }))
type WorkMessage = ReturnType<typeof Work>

/** Works for as long as it is told to, with another agent's help where there are hops. */
class Job extends RoutedAgent {
  readonly #life = randomUUID()
  readonly #program: WorkerProgram

  constructor(program: WorkerProgram) {
    super("Works")
    const { recorder, name } = program
    this.#program = program
    recorder.write("born", this.#names)
    this.on(Work, async (message, { signal }: MessageContext) => {
      const { id, ms, hops } = message
      recorder.write("begin", { ...this.#names, id })
      try {
        await sleep(ms, undefined, { signal })
        if (hops > 0) {
          const next = Work({ ...message, id: `${id}+`, hops: hops - 1 })
          await program.settled(next.id, async () => await this.send(next, agentId("helper", this.id.key)))
        }
        return Done({ by: name })
      } finally {
        recorder.write("end", { ...this.#names, id })
      }
    })
  }

  override close(): void {
    this.#program.recorder.write("gone", this.#names)
  }

  get #names(): { readonly agent: string; readonly life: string } {
    return { agent: formatAgentId(this.id), life: this.#life }
  }
}

const work = (ms: number, hops = 0, padding = 0): WorkMessage =>
  Work({ id: randomUUID(), ms, hops, padding: "x".repeat(padding) })

const loadSchema = z.object({
  keys: z.number(),
  everyMs: z.number(),
  maxMs: z.number(),
  timeoutMs: z.number(),
})

/** A worker in a process of its own, which begins when it is told to. */
class WorkerProgram {
  readonly name: string
  readonly recorder: Recorder
  readonly #runtime: GrpcWorkerAgentRuntime
  readonly #hasAgents: boolean
  #load: { readonly ended: Promise<void>; stop(): void } | undefined

  constructor({ name, record, runtime, hasAgents }: WorkerProgramOptions) {
    this.name = name
    this.recorder = new Recorder(record, name)
    this.#hasAgents = hasAgents
    this.#runtime = new GrpcWorkerAgentRuntime({ logger: new Console(process.stderr), ...runtime })
  }

  async start(): Promise<void> {
    const runtime = this.#runtime
    runtime.addMessageType(Work)
    runtime.addMessageType(Done)
    if (this.#hasAgents) {
      const news = [typeSubscription("news")]
      await runtime.register("helper", () => new Job(this), { subscriptions: news })
      await runtime.register("job", () => new Job(this))
    }
    await runtime.start()
  }

  status(): WorkerStatus {
    return this.#runtime.status()
  }

  /** Writes down that something was sent, and what became of it. */
  async settled(id: string, action: () => Promise<unknown>): Promise<string> {
    this.recorder.write("sent", { id })
    let code = "ok"
    try {
      await action()
    } catch (error) {
      code = error instanceof GloveboxError ? error.code : `untyped ${String(error)}`
    }
    this.recorder.write("settled", { id, code })
    return code
  }

  async send(message: WorkMessage, key: string, timeoutMs: number): Promise<string> {
    const action = async () => await this.#runtime.send(message, agentId("job", key), { timeoutMs })
    return await this.settled(message.id, action)
  }

  async publish(message: WorkMessage, key: string): Promise<string> {
    return await this.settled(
      message.id,
      async () => await this.#runtime.publish(message, topicId("news", key)),
    )
  }

  /** Sends and publishes without pause until it is stopped. */
  startLoad({ keys, everyMs, maxMs, timeoutMs }: z.output<typeof loadSchema>): void {
    const off = new AbortController()
    const pending = new Set<Promise<unknown>>()
    const key = (): string => String(Math.floor(Math.random() * keys))
    const add = (outcome: Promise<unknown>): void => {
      pending.add(outcome)
      void outcome.then(() => pending.delete(outcome))
    }
    const run = async (): Promise<void> => {
      while (!off.signal.aborted) {
        add(this.send(work(Math.random() * maxMs, Math.random() < 0.3 ? 1 : 0), key(), timeoutMs))
        add(this.publish(work(Math.random() * maxMs), key()))
        await sleep(everyMs)
      }
      await Promise.all(pending)
    }
    this.#load = {
      ended: run(),
      stop: () => off.abort(),
    }
  }

  async stopLoad(): Promise<void> {
    this.#load?.stop()
    await this.#load?.ended
  }
}

let program: WorkerProgram | undefined

answerLines({
  start: async ({ options }) => {
    program = new WorkerProgram(options as WorkerProgramOptions)
    await program.start()
  },
  memory: async () => memory(),
  status: async () => program?.status(),
  startLoad: async (fields) => program?.startLoad(loadSchema.parse(fields)),
  stopLoad: async () => await program?.stopLoad(),
  send: async ({ key, ms = 0, timeoutMs = 5000 }) =>
    await program?.send(work(Number(ms)), String(key), Number(timeoutMs)),
  publish: async ({ key, count, padding, ms = 0 }) => {
    const codes: Record<string, number> = {}
    for (let index = 0; index < Number(count); index++) {
      const code = (await program?.publish(work(Number(ms), 0, Number(padding)), String(key))) ?? ""
      codes[code] = (codes[code] ?? 0) + 1
    }
    return codes
  },
})
