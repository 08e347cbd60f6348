import { createHash, randomBytes } from "node:crypto"
import { unpackTar } from "modern-tar"
import { GloveboxError } from "../../core/index.ts"
import { workspacePath } from "../workspace-path.ts"
import type { WorkspaceFile } from "../workspace-file.ts"
import { broken } from "../sandbox/agent-frames.ts"
import type { Channel } from "../sandbox/channel.ts"
import { MarkedStream } from "./marked-stream.ts"
import { OrderedWriter } from "../sandbox/ordered-writer.ts"
import { settled } from "../sandbox/settled.ts"
import type { Collected, CollectLimits, RunEnd, RunRequest, SandboxAgent } from "../sandbox/sandbox-agent.ts"

const CHUNK = 1024 ** 2
const LONGEST_GREETING = 64 * 1024
const LIMITS = ["memory", "pids", "workspace"] as const

interface Work {
  readonly stdout: MarkedStream
  /** Without one, what comes on stderr belongs to nobody. */
  readonly stderr?: MarkedStream | undefined
  readonly done: (end: LineEnd) => void
  readonly fail: (error: Error) => void
}

interface LineEnd {
  readonly code: number
  readonly limits: RunEnd["limits"]
  /** What was behind the marker. */
  readonly line: string
}

/** The host's side of `resident.sh`, for images without Python. */
export class LineAgent implements SandboxAgent {
  readonly #channel: Channel
  // Whatever is asked for comes after the files that were put before.
  readonly #writer: OrderedWriter
  readonly #lost = new AbortController()
  // By path: the digest of what was put or collected last.
  readonly #known = new Map<string, string>()
  readonly programs: Record<string, string | null> = {}
  readonly hasReadyInterpreter = false
  #work: Work | undefined
  #idle = Promise.resolve()
  #kills = 0
  // The files that were asked for, until someone has taken them.
  #collected: Promise<Collected> | undefined

  private constructor(channel: Channel) {
    this.#channel = channel
    this.#writer = new OrderedWriter(channel)
  }

  static async greet(channel: Channel): Promise<LineAgent> {
    const agent = new LineAgent(channel)
    const { line } = await new Promise<LineEnd>((done, fail) => {
      const stdout = new MarkedStream("ready ", () => {}, LONGEST_GREETING)
      agent.#work = { stdout, done, fail }
      agent.#listen()
    })
    const [version, ...found] = line.split(" ")
    if (version !== "1") throw broken(`version ${version ?? ""} of its agent`)
    for (const entry of found) {
      const at = entry.indexOf("=")
      agent.programs[entry.slice(0, at)] = entry.slice(at + 1) || null
    }
    return agent
  }

  get facts(): Readonly<Record<string, unknown>> {
    return {}
  }

  get lost(): AbortSignal {
    return this.#lost.signal
  }

  async put(files: Iterable<WorkspaceFile>): Promise<void> {
    const list = [...files]
    for (const file of list) this.#known.set(file.path, digest(file))
    await this.#writer.write(putLines(list))
  }

  remove(paths: readonly string[]): void {
    for (const path of paths) this.#known.delete(path)
    void this.#writer.write(paths.map((path) => Buffer.from(`del ${path}\n`, "utf8")))
  }

  async run({ argv, onOutput }: RunRequest): Promise<RunEnd> {
    if (argv.some((argument) => argument.includes("\n") || argument.includes("\0"))) {
      throw new GloveboxError(
        "OPTION_INVALID",
        "A new line in an argument cannot be given to this image's sh.",
      )
    }
    const marker = newMarker()
    const { code, limits } = await this.#start(`run ${marker} ${argv.length}\n${argv.join("\n")}\n`, {
      stdout: new MarkedStream(marker, (bytes) => onOutput("stdout", bytes)),
      stderr: new MarkedStream(marker, (bytes) => onOutput("stderr", bytes)),
    })
    // The shell has only one number for both.
    const isSignal = code > 128 && code <= 128 + 64
    return { code: isSignal ? null : code, signal: isSignal ? code - 128 : null, limits }
  }

  kill(): void {
    this.#kills += 1
    void this.#channel.write(Buffer.from("kill\n"))
  }

  async collect(limits: CollectLimits): Promise<Collected> {
    this.#collected ??= this.#collect(limits)
    return this.#collected
  }

  async #collect(limits: CollectLimits): Promise<Collected> {
    const marker = newMarker()
    // Headers and padding of small files can weigh more than the files.
    const most = limits.maxBytes + limits.maxFiles * 2048 + 64 * 1024
    const parts: Buffer[] = []
    let bytes = 0
    const onBytes = (part: Buffer): void => {
      bytes += part.length
      if (bytes <= most) parts.push(Buffer.from(part))
    }
    const { code } = await this.#start(`get ${marker}\n`, {
      stdout: new MarkedStream(marker, onBytes),
      stderr: new MarkedStream(marker, () => {}),
    })
    // Half an archive tells nothing of the other half.
    if (code !== 0 || bytes > most) return { files: [], removed: [], over: true }
    try {
      return this.#compare(await readArchive(Buffer.concat(parts)), limits)
    } catch (error) {
      this.#channel.fail(error as Error)
      throw error
    }
  }

  async undelivered(): Promise<Collected | undefined> {
    const collected = this.#collected
    this.#collected = undefined
    return collected
  }

  delivered(): void {
    this.#collected = undefined
  }

  async whenIdle(): Promise<void> {
    await this.#idle
  }

  warm(): void {}

  // The lease of this agent is its input alone.
  ping(): void {}

  pause(): void {
    this.#channel.pause()
  }

  resume(): void {
    this.#channel.resume()
  }

  ref(isNeeded: boolean): void {
    this.#channel.ref(isNeeded)
  }

  close(): void {
    this.#channel.close()
  }

  #compare(found: readonly WorkspaceFile[], limits: CollectLimits): Collected {
    const present = new Set(found.map(({ path }) => path))
    const removed = [...this.#known.keys()].filter((path) => !present.has(path))
    for (const path of removed) this.#known.delete(path)
    const files: WorkspaceFile[] = []
    let bytes = 0
    let over = false
    for (const file of found) {
      const sha256 = digest(file)
      if (this.#known.get(file.path) === sha256) continue
      if (files.length >= limits.maxFiles || bytes + file.content.length > limits.maxBytes) {
        over = true
        continue
      }
      bytes += file.content.length
      this.#known.set(file.path, sha256)
      files.push(file)
    }
    return { files, removed, over }
  }

  async #start(line: string, streams: Pick<Work, "stdout" | "stderr">): Promise<LineEnd> {
    const kills = this.#kills
    const pending = this.#writer.pending()
    if (pending) await pending
    if (kills !== this.#kills) return { code: 137, limits: [], line: "" }
    if (this.#lost.signal.aborted) throw this.#lost.signal.reason as Error
    if (this.#work) throw new Error("The agent does one thing at a time.")
    const work = new Promise<LineEnd>((done, fail) => {
      this.#work = { ...streams, done, fail }
      void this.#channel.write(Buffer.from(line, "utf8"))
    })
    this.#idle = settled(work)
    return work
  }

  #listen(): void {
    this.#channel.listen({
      onStdout: (bytes) => this.#onBytes("stdout", bytes),
      onStderr: (bytes) => this.#onBytes("stderr", bytes),
      onEnd: (error) => {
        const reason = GloveboxError.is(error, "SANDBOX_BROKEN")
          ? error
          : new GloveboxError(
              "SANDBOX_LOST",
              `The sandbox ended before its work was done${error ? ` (${error.message})` : ""}.`,
              { cause: error },
            )
        this.#lost.abort(reason)
        const work = this.#work
        this.#work = undefined
        work?.fail(reason)
      },
    })
  }

  #onBytes(name: "stdout" | "stderr", bytes: Buffer): void {
    const work = this.#work
    const stream = work?.[name]
    // Complaints of the shell itself, between two pieces of work.
    if (!stream && name === "stderr") return
    if (!work || !stream || !stream.push(bytes)) throw broken("output that belongs to nothing")
    if (work.stdout.line === undefined || (work.stderr && work.stderr.line === undefined)) return
    this.#work = undefined
    try {
      work.done(work.stderr ? readEnd(work.stdout.line) : { code: 0, limits: [], line: work.stdout.line })
    } catch (error) {
      work.fail(error as Error)
      throw error
    }
  }
}

function readEnd(line: string): LineEnd {
  const [, status, limits] = /^(\d{1,3}) ([a-z,]+|-)$/.exec(line) ?? []
  if (status === undefined || Number(status) > 255) throw broken("an end without a status")
  return { code: Number(status), limits: LIMITS.filter((name) => limits?.split(",").includes(name)), line }
}

function* putLines(files: readonly WorkspaceFile[]): Generator<Uint8Array> {
  for (const { path, content, executable } of files) {
    yield Buffer.from(`put ${executable ? "755" : "644"} ${content.length} ${path}\n`, "utf8")
    for (let at = 0; at < content.length; at += CHUNK) yield content.subarray(at, at + CHUNK)
  }
}

function newMarker(): string {
  return randomBytes(24).toString("hex")
}

function digest({ content, executable }: WorkspaceFile): string {
  return `${executable} ${createHash("sha256").update(content).digest("hex")}`
}

// Regular files with names that a workspace takes; everything else stays behind.
async function readArchive(archive: Buffer): Promise<WorkspaceFile[]> {
  try {
    const entries = await unpackTar(archive, { strict: true })
    return entries.flatMap(({ header, data }) => {
      const path = safePath(header.name.replace(/^\.\//, ""))
      if (header.type !== "file" || path === undefined) return []
      return [{ path, content: data ?? new Uint8Array(), executable: ((header.mode ?? 0) & 0o100) !== 0 }]
    })
  } catch (cause) {
    throw broken("an archive that cannot be read", cause)
  }
}

function safePath(path: string): string | undefined {
  try {
    return workspacePath(path)
  } catch {
    return undefined
  }
}
