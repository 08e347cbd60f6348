import type { Duplex } from "node:stream"
import { GloveboxError } from "../../core/index.ts"
import { type AgentFrame, AgentFrames, broken, encodeFrame, encodeJsonFrame } from "./agent-frames.ts"
import { type Answer, type Facts, readAnswer } from "./agent-answers.ts"
import type { Channel } from "./channel.ts"
import { Collection } from "./collection.ts"
import type { WorkspaceFile } from "../workspace-file.ts"
import { OrderedWriter } from "./ordered-writer.ts"
import { putFrames } from "./put-frames.ts"
import { settled } from "./settled.ts"
import type { Collected, CollectLimits, RunEnd, RunRequest, SandboxAgent } from "./sandbox-agent.ts"
import { Tunnel } from "./tunnel.ts"

const STDERR_KEPT = 8192

/** What the agent is doing; it does one thing at a time. */
type Work =
  | { readonly kind: "boot"; readonly done: (facts: Facts) => void; readonly fail: (error: Error) => void }
  | {
      readonly kind: "run"
      readonly id: number
      readonly request: RunRequest
      /** Why the run is worth nothing, although it has to end first. */
      failure: GloveboxError | undefined
      readonly done: (end: RunEnd) => void
      readonly fail: (error: Error) => void
    }
  | Collection

const KILLED: RunEnd = { code: null, signal: 9, limits: [] }

/** The host's side of the agent in `resident/`. */
export class FramedAgent implements SandboxAgent {
  readonly #channel: Channel
  // Whatever is asked for comes after the files that were put before.
  readonly #writer: OrderedWriter
  readonly #lost = new AbortController()
  #facts: Facts | undefined
  #compiled: Buffer | undefined
  #work: Work | undefined
  #runs = 0
  #kills = 0
  #stderr = ""
  #putFailure: GloveboxError | undefined
  #idle = Promise.resolve()
  // The files that were asked for, with a run or after it, until someone has taken them.
  #collected: Promise<Collected> | undefined

  readonly #tunnel: Tunnel | undefined

  private constructor(channel: Channel, accept: ((client: Duplex) => void) | undefined) {
    this.#channel = channel
    this.#writer = new OrderedWriter(channel)
    this.#tunnel = accept && new Tunnel({ accept, write: (parts) => channel.writeAll(parts) })
  }

  /** Waits for the agent's first words; `accept` takes connections of programs, where the agent carries any. */
  static async greet(channel: Channel, accept?: (client: Duplex) => void): Promise<FramedAgent> {
    const agent = new FramedAgent(channel, accept)
    const facts = await new Promise<Facts>((done, fail) => {
      agent.#work = { kind: "boot", done, fail }
      agent.#listen()
    })
    agent.#facts = facts
    if (accept && facts.tunnel === undefined) {
      channel.close()
      throw new GloveboxError(
        "SANDBOX_UNENFORCEABLE",
        "The sandbox's agent carries no connections, so the policy's allow-list cannot be kept and nothing runs.",
      )
    }
    return agent
  }

  get programs(): Readonly<Record<string, string | null>> {
    return this.#facts?.programs ?? {}
  }

  get hasReadyInterpreter(): boolean {
    return this.#facts?.ready ?? false
  }

  get facts(): Readonly<Record<string, unknown>> {
    return this.#facts ?? {}
  }

  /** The agent's own program as its Python compiled it, if it was asked for. */
  get compiled(): Buffer | undefined {
    return this.#compiled
  }

  get lost(): AbortSignal {
    return this.#lost.signal
  }

  async put(files: Iterable<WorkspaceFile>): Promise<void> {
    await this.#writer.write(putFrames(files))
  }

  remove(paths: readonly string[]): void {
    const frames: Buffer[] = []
    for (let at = 0; at < paths.length; at += 128) {
      frames.push(encodeJsonFrame("U", { paths: paths.slice(at, at + 128) }))
    }
    void this.#writer.write(frames)
  }

  async run(request: RunRequest): Promise<RunEnd> {
    return this.#busyWith(this.#runNext(request))
  }

  // One that is refused while another goes on does not make the agent idle.
  #busyWith<T>(work: Promise<T>): Promise<T> {
    const before = this.#idle
    this.#idle = settled(work).then(async () => before)
    return work
  }

  async #runNext(request: RunRequest): Promise<RunEnd> {
    const kills = this.#kills
    const pending = this.#writer.pending()
    if (pending) await pending
    // It was ended before it could begin.
    if (kills !== this.#kills) return KILLED
    const failure = this.#putFailure
    this.#putFailure = undefined
    if (failure) throw failure
    this.#runs += 1
    const id = this.#runs
    return this.#start((done, fail) => {
      this.#work = { kind: "run", id, request, failure: undefined, done, fail }
      void this.#channel.write(encodeJsonFrame("X", { id, argv: request.argv, how: request.how }))
      if (request.thenCollect) void this.#channel.write(encodeJsonFrame("C", request.thenCollect))
    })
  }

  kill(): void {
    this.#kills += 1
    void this.#channel.write(encodeFrame("K"))
  }

  async undelivered(): Promise<Collected | undefined> {
    const collected = this.#collected
    this.#collected = undefined
    return collected
  }

  delivered(): void {
    this.#collected = undefined
  }

  async collect(limits: CollectLimits): Promise<Collected> {
    if (this.#collected) return this.#collected
    const collected = this.#start<Collected>((done, fail) => {
      this.#work = new Collection(limits, done, fail)
      void this.#channel.write(encodeJsonFrame("C", limits))
    })
    this.#collected = collected
    collected.catch(() => {
      if (this.#collected === collected) this.#collected = undefined
    })
    return this.#busyWith(collected)
  }

  async whenIdle(): Promise<void> {
    // A run may be followed by the files that were asked for with it.
    for (let idle: Promise<void> | undefined; idle !== this.#idle; await idle) idle = this.#idle
    await this.#writer.pending()
  }

  warm(): void {
    if (this.hasReadyInterpreter) void this.#channel.write(encodeFrame("W"))
  }

  ping(): void {
    void this.#channel.write(encodeFrame("N"))
  }

  ref(isNeeded: boolean): void {
    this.#channel.ref(isNeeded)
  }

  pause(): void {
    this.#channel.pause()
  }

  resume(): void {
    this.#channel.resume()
  }

  close(): void {
    this.#channel.close()
  }

  async #start<T>(begin: (done: (value: T) => void, fail: (error: Error) => void) => void): Promise<T> {
    const pending = this.#writer.pending()
    if (pending) await pending
    if (this.#lost.signal.aborted) throw this.#lost.signal.reason as Error
    if (this.#work) throw new Error("The agent does one thing at a time.")
    return new Promise<T>(begin)
  }

  #listen(): void {
    const frames = new AgentFrames((frame) => this.#onFrame(frame))
    this.#channel.listen({
      onStdout: (bytes) => frames.push(bytes),
      onStderr: (bytes) => {
        this.#stderr = (this.#stderr + bytes.toString("utf8")).slice(-STDERR_KEPT)
      },
      onEnd: (error) => this.#onEnd(error),
    })
  }

  #onEnd(error: Error | undefined): void {
    const said = this.#stderr.trim()
    const reason = GloveboxError.is(error, "SANDBOX_BROKEN")
      ? error
      : new GloveboxError(
          "SANDBOX_LOST",
          `The sandbox ended before its work was done${error ? ` (${error.message})` : ""}${said === "" ? "" : `; its agent said: ${said}`}.`,
          { cause: error },
        )
    this.#tunnel?.close()
    this.#lost.abort(reason)
    this.#take()?.fail(reason)
  }

  // The agent has been told to go on with the files.
  #endRun({ request }: Extract<Work, { kind: "run" }>): void {
    this.#take()
    const limits = request.thenCollect
    if (!limits) return
    this.#collected = new Promise<Collected>((done, fail) => {
      this.#work = new Collection(limits, done, fail)
    })
    this.#idle = settled(this.#collected)
  }

  #take(): Work | undefined {
    const work = this.#work
    this.#work = undefined
    return work
  }

  #onFrame({ type, payload }: AgentFrame): void {
    const work = this.#work
    if (type === "t" && this.#tunnel && this.#facts) return this.#tunnel.onFrame(payload)
    if (type === "!") return this.#onFailure(readAnswer("!", payload))
    if (work?.kind === "run") return this.#onRunFrame(work, type, payload)
    if (work?.kind === "collect") return this.#onCollectFrame(work, type, payload)
    if (work?.kind === "boot" && type === "s") {
      this.#compiled = payload
      return
    }
    if (work?.kind === "boot" && type === "R") {
      const facts = readAnswer("R", payload)
      this.#take()
      return work.done(facts)
    }
    throw broken(`a frame "${type}" that nobody asked for`)
  }

  #onRunFrame(work: Extract<Work, { kind: "run" }>, type: string, payload: Buffer): void {
    if (type === "o") return work.request.onOutput("stdout", payload)
    if (type === "e") return work.request.onOutput("stderr", payload)
    if (work.request.onFrame?.(type, payload)) return
    if (type !== "x") throw broken(`a frame "${type}" while a block ran`)
    const { id, ...end } = readAnswer("x", payload)
    if (id !== work.id) throw broken("the end of another block")
    if ((end.code === null) === (end.signal === null)) {
      throw broken("an end that is neither an exit nor a signal")
    }
    this.#endRun(work)
    if (work.failure) work.fail(work.failure)
    else work.done(end)
  }

  #onCollectFrame(work: Collection, type: string, payload: Buffer): void {
    const collected = work.take(type, payload)
    if (!collected) return
    this.#take()
    work.done(collected)
  }

  #onFailure({ op, message, path, program, id }: Answer<"!">): void {
    const work = this.#work
    if (op === "U" || op === "N") return
    if (op === "P" || op === "D") {
      const failure = new GloveboxError(
        "WORKSPACE_FAILED",
        `The file ${path ?? ""} could not be put into the sandbox's workspace: ${message}. limits.workspace and limits.files bound what it holds.`,
      )
      if (work?.kind !== "run") this.#putFailure ??= failure
      else if (!work.failure) {
        // The block must not go on without its files.
        work.failure = failure
        this.kill()
      }
      return
    }
    if (work?.kind !== "run" && work?.kind !== "collect") throw broken("a failure that nobody waits for")
    if (op !== (work.kind === "run" ? "X" : "C")) throw broken(`the failure of a frame "${op}"`)
    if (work.kind === "run" && id !== work.id) throw broken("the failure of another block")
    if (work.kind === "run") this.#endRun(work)
    else this.#take()
    // Without its files it could not be run.
    if (work.kind === "run" && work.failure) return work.fail(work.failure)
    const isMissing = program !== undefined
    work.fail(
      new GloveboxError(
        isMissing ? "LANGUAGE_UNAVAILABLE" : "SANDBOX_BROKEN",
        isMissing
          ? `The sandbox has no program ${program}: ${message}`
          : `The sandbox's agent could not do its work: ${message}`,
      ),
    )
  }
}
