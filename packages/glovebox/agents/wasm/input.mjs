import { FrameReader } from "./frames.mjs"

/** What comes from the host. Its end is the end of this process, whatever runs. */
export class Input {
  #onFrame
  #early = []
  #reader = new FrameReader((type, payload) => this.#take(type, payload))

  constructor() {
    process.stdin.on("data", (chunk) => this.#reader.push(chunk))
    process.stdin.on("end", () => process.exit(0))
    process.stdin.on("error", () => process.exit(0))
  }

  /** The first frame, which says what kind of sandbox this is to be. */
  async config() {
    const payload = await new Promise((resolve) => {
      this.#onFrame = (_type, first) => {
        this.#onFrame = undefined
        resolve(first)
      }
    })
    return JSON.parse(payload.toString("utf8"))
  }

  /** @param {(type: string, payload: Buffer) => void} onFrame */
  listen(onFrame) {
    this.#onFrame = onFrame
    for (const [type, payload] of this.#early.splice(0)) onFrame(type, payload)
  }

  #take(type, payload) {
    if (this.#onFrame) this.#onFrame(type, payload)
    else this.#early.push([type, payload])
  }
}
