import { encodeMessage } from "../wire/codec.ts"
import type { CloudEvent } from "../wire/wire-message.ts"

/** An event whose bytes are made once, however many workers get it. */
export class EncodedEvent {
  readonly #event: CloudEvent
  #bytes: Buffer | undefined

  constructor(event: CloudEvent) {
    this.#event = event
  }

  get bytes(): Buffer {
    return (this.#bytes ??= encodeMessage({ cloudEvent: this.#event }))
  }
}
