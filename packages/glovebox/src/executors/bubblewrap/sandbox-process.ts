import type { ChildProcess } from "node:child_process"
import { readFile } from "node:fs/promises"
import type { Socket } from "node:net"
import type { Readable, Writable } from "node:stream"
import { z } from "zod"
import type { PipedProcess } from "../sandbox/process-channel.ts"
import { startProcess } from "../sandbox/start-process.ts"
import { TOOL_FOLDERS } from "./find-tools.ts"
import { FIRST_DATA_FD, GATE_FD, INFO_FD } from "./launch-command.ts"
import { type Identity, becoming } from "./machine.ts"

export interface ProcessPlan {
  readonly command: readonly string[]
  /** What can be read from the streams after the fixed ones, in their order. */
  readonly data: readonly Buffer[]
  /** Whom to become first: never root, if that can be helped. */
  readonly identity: Identity
}

const infoSchema = z.object({ "child-pid": z.int().min(1) }).catchall(z.unknown())

/** What bwrap tells of the sandbox it made. */
export interface ProcessInfo {
  /** The sandbox's first process, by this machine's number. */
  readonly init: number
  /** The kernel's numbers of its namespaces, by name. */
  readonly namespaces: Readonly<Record<string, number>>
}

const END_LIMIT_MS = 5_000

/** The process that becomes a sandbox. */
export class SandboxProcess {
  readonly child: PipedProcess
  /** Resolves when bwrap has made the sandbox; never, when it cannot. */
  readonly info: Promise<ProcessInfo>
  /** Resolves when it has ended. */
  readonly exited: Promise<void>
  #init: number | undefined
  #failure: Error | undefined

  private constructor(child: ChildProcess) {
    // All of its streams are pipes.
    this.child = child as PipedProcess
    this.exited = new Promise((resolve) => {
      child.once("exit", () => resolve())
      child.once("error", (error) => {
        this.#failure = error
        // One that was never there has no exit.
        if (child.pid === undefined) resolve()
      })
    })
    this.info = this.#readInfo(child.stdio[INFO_FD] as Readable)
    void this.info.then(({ init }) => (this.#init = init))
  }

  static start({ command, data, identity }: ProcessPlan): SandboxProcess {
    const [program = "", ...args] = command
    const child = startProcess(program, args, {
      cwd: "/",
      // What launches the sandbox gets nothing of the host's environment either.
      env: { PATH: TOOL_FOLDERS.join(":") },
      // Signals for this process's terminal are not for its sandboxes.
      detached: true,
      stdio: Array.from({ length: FIRST_DATA_FD + data.length }, () => "pipe" as const),
      ...becoming(identity),
    })
    for (const [index, bytes] of data.entries()) {
      const stream = child.stdio[FIRST_DATA_FD + index] as Writable
      stream.on("error", () => {})
      stream.end(bytes)
    }
    return new SandboxProcess(child)
  }

  get pid(): number | undefined {
    return this.child.pid
  }

  /** Why it could not even be started. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Lets it go on, once it is where it belongs. */
  openGate(): void {
    const gate = this.child.stdio[GATE_FD] as Writable
    gate.on("error", () => {})
    gate.end("\n")
  }

  /** Ends the sandbox, and waits until all of it is gone. */
  async end(): Promise<void> {
    // Idle, it keeps nobody; who waits for its end is to be kept.
    this.child.ref()
    for (const stream of this.child.stdio as readonly Partial<Pick<Socket, "ref">>[]) stream.ref?.()
    if (await this.#isOver()) return
    // The death of a namespace's first process is that of all in it, and bwrap ends when it has seen it.
    if (this.#init !== undefined && (await isChildOf(this.#init, this.pid))) kill(this.#init)
    else this.#killGroup()
    const late = setTimeout(() => this.#killGroup(), END_LIMIT_MS)
    await this.exited
    clearTimeout(late)
  }

  async #isOver(): Promise<boolean> {
    return Promise.race([this.exited.then(() => true), Promise.resolve(false)])
  }

  #killGroup(): void {
    if (this.pid === undefined) return
    kill(-this.pid)
    kill(this.pid)
  }

  async #readInfo(stream: Readable): Promise<ProcessInfo> {
    let said = ""
    return new Promise((resolve) => {
      stream.setEncoding("utf8")
      stream.on("error", () => {})
      stream.on("data", (chunk: string) => {
        said += chunk
        const info = parseInfo(said)
        if (info) resolve(info)
      })
    })
  }
}

function parseInfo(said: string): ProcessInfo | undefined {
  if (!said.trimEnd().endsWith("}")) return undefined
  const { "child-pid": init, ...rest } = infoSchema.parse(JSON.parse(said))
  const namespaces = Object.entries(rest).flatMap(([name, value]): [string, number][] =>
    typeof value === "number" ? [[name.replace(/-namespace$/, ""), value]] : [],
  )
  return { init, namespaces: Object.fromEntries(namespaces) }
}

// A number may be another process's by now, but not one with the same parent.
async function isChildOf(pid: number, parent: number | undefined): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "")
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === parent
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has ended by itself.
  }
}
