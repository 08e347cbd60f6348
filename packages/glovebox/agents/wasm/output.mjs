import { Socket } from "node:net"
import { LONGEST_ANSWER, encodeFrame, encodeJsonFrame } from "./frames.mjs"

const TYPES = { stdout: "o", stderr: "e" }

/** What goes to the host. Who writes waits while the host does not read, so nothing piles up. */
export class Output {
  // Not process.stdout, which would block this thread, and with it the order to kill.
  #socket = new Socket({ fd: 1, readable: false, writable: true })
  #room

  constructor() {
    this.#socket.on("error", () => process.exit(0))
  }

  async send(type, value) {
    await this.#write(encodeJsonFrame(type, value))
  }

  async write(stream, bytes) {
    await this.sendBytes(TYPES[stream], bytes)
  }

  async sendBytes(type, bytes) {
    for (let at = 0; at < bytes.length; at += LONGEST_ANSWER) {
      await this.#write(encodeFrame(type, bytes.subarray(at, at + LONGEST_ANSWER)))
    }
  }

  #write(frame) {
    if (this.#socket.write(frame)) return undefined
    this.#room ??= new Promise((resolve) => {
      this.#socket.once("drain", () => {
        this.#room = undefined
        resolve()
      })
    })
    return this.#room
  }
}
