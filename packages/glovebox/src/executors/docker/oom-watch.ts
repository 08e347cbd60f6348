import type { Readable } from "node:stream"
import type { Engine } from "./engine.ts"
import { OWNER_LABEL } from "./ownership.ts"

// The engine tells of it about when the container's connection ends, before or after; a busy one takes its time.
const TOLD_WITHIN_MS = 4_000
const REMEMBERED = 1000

/** Hears from the engine which containers ran out of memory; a container that is removed at once tells it nowhere else. */
export class OomWatch {
  readonly #seen = new Set<string>()
  readonly #waiting = new Map<string, () => void>()
  #stream: Readable | undefined
  #isClosed = false

  /** Listens for the containers of one owner. */
  async listen(engine: Engine, owner: string): Promise<void> {
    const filters = { type: ["container"], event: ["oom"], label: [`${OWNER_LABEL}=${owner}`] }
    const stream = (await engine.ask("tell its events", async (docker) =>
      docker.getEvents({ filters: JSON.stringify(filters) }),
    )) as Readable & { socket?: { unref: () => void } }
    if (this.#isClosed) return void stream.destroy()
    this.#stream = stream
    stream.socket?.unref()
    let rest = ""
    stream.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString("utf8")).split("\n")
      rest = (lines.pop() ?? "").slice(-65_536)
      for (const line of lines) this.#read(line)
    })
    // Without it, such an end is told as a lost container.
    stream.on("error", () => {})
  }

  async hasSeen(id: string): Promise<boolean> {
    if (this.#seen.has(id)) return true
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, TOLD_WITHIN_MS)
      this.#waiting.set(id, () => {
        clearTimeout(timer)
        resolve()
      })
    })
    this.#waiting.delete(id)
    return this.#seen.has(id)
  }

  close(): void {
    this.#isClosed = true
    this.#stream?.destroy()
  }

  #read(line: string): void {
    if (line.trim() === "") return
    try {
      const { id, Actor } = JSON.parse(line) as { id?: string; Actor?: { ID?: string } }
      const container = Actor?.ID ?? id
      if (container === undefined) return
      if (this.#seen.size >= REMEMBERED) this.#seen.clear()
      this.#seen.add(container)
      this.#waiting.get(container)?.()
    } catch {
      // What is no event tells nothing.
    }
  }
}
