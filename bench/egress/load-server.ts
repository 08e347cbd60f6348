import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import type { Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"

const PROGRAM = fileURLToPath(new URL("load-server.mjs", import.meta.url))

/** The server that both the host and the sandbox talk to. */
export class LoadServer implements AsyncDisposable {
  readonly port: number
  readonly #process: ChildProcessByStdio<Writable, Readable, null>

  private constructor(port: number, process: ChildProcessByStdio<Writable, Readable, null>) {
    this.port = port
    this.#process = process
  }

  static async start(): Promise<LoadServer> {
    const child = spawn(process.execPath, [PROGRAM], { stdio: ["pipe", "pipe", "inherit"] })
    const [line] = (await once(child.stdout, "data")) as [Buffer]
    return new LoadServer(Number(line.toString().trim()), child)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null) return
    const exit = once(this.#process, "exit")
    this.#process.stdin.end()
    await exit
  }
}
