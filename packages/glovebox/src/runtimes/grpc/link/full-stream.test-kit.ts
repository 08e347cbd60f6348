import { EventEmitter } from "node:events"
import { decodeMessage } from "../wire/codec.ts"
import type { WireMessage } from "../wire/wire-message.ts"
import type { LinkStream } from "./link-stream.ts"

/** A stream that takes one message at a time: each "drain" lets a link write the next. */
export class FullStream extends EventEmitter implements LinkStream {
  readonly written: Buffer[] = []

  get messages(): readonly WireMessage[] {
    return this.written.map((bytes) => decodeMessage(bytes))
  }

  write(bytes: Buffer): boolean {
    this.written.push(bytes)
    return false
  }

  drain(times = 1): void {
    for (let time = 0; time < times; time++) this.emit("drain")
  }

  end(): void {}

  cancel(): void {}
}
