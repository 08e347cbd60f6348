import type { PullProgress } from "../executors/docker/index.ts"
import type { OutputPipe } from "./output-pipe.ts"

const ERASE = "\r\u001B[2K"

/** What the command is about, in one line that is replaced and in the end erased; nothing where no person reads it. */
export class ProgressLine implements Disposable {
  readonly #pipe: OutputPipe
  #shown = ""

  constructor(pipe: OutputPipe) {
    this.#pipe = pipe
  }

  show(text: string): void {
    if (!this.#pipe.isTerminal || text === this.#shown) return
    this.#shown = text
    this.#pipe.put(`${ERASE}${this.#pipe.style("dim", `${text} ...`)}`)
  }

  clear(): void {
    if (this.#shown === "") return
    this.#shown = ""
    this.#pipe.put(ERASE)
  }

  [Symbol.dispose](): void {
    this.clear()
  }
}

/** Adds up a pull's layers, as `pulling python:3-slim 43%`; what follows it when it is done. */
export function pullReporter(): (progress: PullProgress) => string {
  const layers = new Map<string, { readonly current: number; readonly total: number }>()
  return ({ image, layer, status, current, total }) => {
    // The last line of a pull.
    if (status.startsWith("Status:")) return "starting the sandbox"
    if (layer !== undefined) {
      if (status === "Downloading" && total) layers.set(layer, { current: current ?? 0, total })
      const known = layers.get(layer)
      if (known && /complete$|^Verifying|^Extracting/.test(status)) {
        layers.set(layer, { current: known.total, total: known.total })
      }
    }
    const sum = (field: "current" | "total"): number =>
      [...layers.values()].reduce((bytes, item) => bytes + item[field], 0)
    return layers.size === 0
      ? `pulling ${image}`
      : `pulling ${image} ${Math.floor((100 * sum("current")) / sum("total"))}%`
  }
}
