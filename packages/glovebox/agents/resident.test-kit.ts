import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { residentSource } from "../src/executors/sandbox/agent-command.ts"

const source = await residentSource()

// Another image for the other versions of Python, and another engine or runtime.
const image = process.env["GLOVEBOX_TEST_IMAGE"] ?? "glovebox/sandbox:py3"
const extra = process.env["GLOVEBOX_TEST_RUN_ARGS"]?.split(" ") ?? []

const hardening = (
  "run -i --rm --network none --read-only --user 65532:65532 --cap-drop ALL " +
  "--security-opt no-new-privileges --pids-limit 64 --memory 256m --memory-swap 256m " +
  "--tmpfs /workspace:rw,exec,nosuid,nodev,size=32m,nr_inodes=4096,uid=65532,gid=65532,mode=0700 " +
  "-w /workspace -e HOME=/workspace --label org.glovebox.test=1"
).split(" ")

export interface Frame {
  type: string
  payload: Buffer
}

export interface Outcome {
  stdout: string
  stderr: string
  code: number | null
  signal: number | null
  limits: string[]
}

export interface Collected {
  files: Map<string, { text: string; mode: number }>
  gone: string[]
  summary: Record<string, unknown>
}

export interface StartOptions {
  eager?: boolean
  preload?: string[]
  lease?: number
  /** Whether it gives itself as it was compiled. */
  share?: boolean
  /** What to give `python3 -c` in place of the source. */
  program?: readonly string[]
  /** More arguments of `docker run`. */
  docker?: string[]
}

/** A container with the agent in it, spoken to in frames. */
export class Resident {
  readonly #docker: ChildProcessWithoutNullStreams
  readonly #frames: Frame[] = []
  readonly exited: Promise<number | null>
  stderr = ""
  #bytes = Buffer.alloc(0)
  #wake: (() => void) | undefined
  #ended = false
  #runs = 0

  constructor({ docker = [], program = [source], ...options }: StartOptions = {}) {
    const config = JSON.stringify({
      workspace: "/workspace",
      programs: ["python3", "bash", "nope"],
      // So that what is asked to run by fork does.
      eager: true,
      ...options,
    })
    const command = [...hardening, ...extra, ...docker, image, "python3", "-c", ...program, config]
    this.#docker = spawn("docker", command)
    this.#docker.stdin.on("error", () => {})
    this.#docker.stderr.on("data", (data: Buffer) => {
      this.stderr += data.toString()
    })
    this.#docker.stdout.on("data", (data: Buffer) => this.#parse(data))
    this.exited = new Promise((resolve) => {
      this.#docker.on("close", (code) => {
        this.#ended = true
        this.#wake?.()
        resolve(code)
      })
    })
  }

  #parse(data: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, data])
    while (this.#bytes.length >= 5) {
      const end = 5 + this.#bytes.readUInt32BE(1)
      if (end > 65_536) throw new Error(`a frame of ${end} bytes`)
      if (this.#bytes.length < end) break
      this.#frames.push({
        type: String.fromCodePoint(this.#bytes[0]!),
        payload: this.#bytes.subarray(5, end),
      })
      this.#bytes = this.#bytes.subarray(end)
    }
    this.#wake?.()
  }

  /** The next frame, or undefined when the agent has ended. */
  async next(): Promise<Frame | undefined> {
    while (this.#frames.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#frames.shift()
  }

  async nextJson(type: string): Promise<Record<string, unknown>> {
    const frame = await this.next()
    if (frame?.type !== type)
      throw new Error(`expected ${type}, got ${frame?.type}: ${frame?.payload.toString()} ${this.stderr}`)
    return JSON.parse(frame.payload.toString()) as Record<string, unknown>
  }

  async ready(): Promise<Record<string, unknown>> {
    return this.nextJson("R")
  }

  send(type: string, payload: Buffer | object = Buffer.alloc(0)): void {
    const body = Buffer.isBuffer(payload) ? payload : Buffer.from(JSON.stringify(payload))
    const head = Buffer.from(`${type}0000`)
    head.writeUInt32BE(body.length, 1)
    this.#docker.stdin.write(Buffer.concat([head, body]))
  }

  sendRaw(bytes: Buffer): void {
    this.#docker.stdin.write(bytes)
  }

  put(path: string, content: string | Buffer, mode = 0o644): void {
    const bytes = Buffer.from(content as string)
    const header = Buffer.from(JSON.stringify({ path, mode, size: bytes.length }))
    const length = Buffer.from([header.length >> 8, header.length & 255])
    this.send("P", Buffer.concat([length, header, bytes.subarray(0, 500_000)]))
    for (let at = 500_000; at < bytes.length; at += 1 << 20)
      this.send("D", bytes.subarray(at, at + (1 << 20)))
  }

  start(argv: string[], how: "exec" | "fork"): void {
    this.#runs += 1
    this.send("X", { id: this.#runs, argv, how })
  }

  async outcome(): Promise<Outcome> {
    const streams: Record<string, Buffer[]> = { o: [], e: [] }
    for (;;) {
      const frame = await this.next()
      if (frame === undefined) throw new Error(`the agent ended: ${this.stderr}`)
      if (frame.type === "o" || frame.type === "e") {
        streams[frame.type]!.push(frame.payload)
        continue
      }
      if (frame.type !== "x") throw new Error(`unexpected ${frame.type}: ${frame.payload.toString()}`)
      const result = JSON.parse(frame.payload.toString()) as Outcome & { id: number }
      if (result.id !== this.#runs) throw new Error("the result of another block")
      const [stdout, stderr] = [streams["o"], streams["e"]].map((parts) =>
        Buffer.concat(parts!).toString("latin1"),
      )
      const { code, signal, limits } = result
      return { stdout: stdout!, stderr: stderr!, code, signal, limits }
    }
  }

  async run(argv: string[], how: "exec" | "fork" = "exec"): Promise<Outcome> {
    this.start(argv, how)
    return this.outcome()
  }

  async bash(script: string): Promise<Outcome> {
    return this.run(["bash", "-c", script])
  }

  async python(code: string, how: "exec" | "fork" = "fork"): Promise<Outcome> {
    this.put("main.py", code)
    return this.run(["python3", "main.py"], how)
  }

  async collect(caps: { maxFiles?: number; maxBytes?: number } = {}): Promise<Collected> {
    this.send("C", caps)
    const files = new Map<string, { text: string; mode: number }>()
    const gone: string[] = []
    let current = ""
    for (;;) {
      const frame = await this.next()
      const json = (): Record<string, unknown> =>
        JSON.parse(frame!.payload.toString()) as Record<string, unknown>
      if (frame?.type === "f") {
        current = json()["path"] as string
        files.set(current, { text: "", mode: json()["mode"] as number })
      } else if (frame?.type === "d") files.get(current)!.text += frame.payload.toString("latin1")
      else if (frame?.type === "v") gone.push(json()["path"] as string)
      else if (frame?.type === "c") return { files, gone, summary: json() }
      else throw new Error(`unexpected ${frame?.type}: ${frame?.payload.toString()}`)
    }
  }

  async stop(): Promise<number | null> {
    this.#docker.stdin.end()
    return this.exited
  }
}

export async function withResident<T>(
  options: StartOptions,
  use: (resident: Resident) => Promise<T>,
): Promise<T> {
  const resident = new Resident(options)
  try {
    await resident.ready()
    return await use(resident)
  } finally {
    await resident.stop()
  }
}
