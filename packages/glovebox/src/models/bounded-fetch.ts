import { GloveboxError } from "../core/index.ts"

const MEGABYTE = 1024 * 1024
const MAX_WHOLE = 64 * MEGABYTE
// Streams may bring the probabilities of each token, many times the text.
const MAX_STREAM = 256 * MEGABYTE
// The libraries look through an event from its start with each piece of it.
const MAX_EVENT = 4 * MEGABYTE

/** `fetch` whose answers end with an error before they fill the memory. */
export async function boundedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init)
  if (!response.body) return response
  const type = response.headers.get("content-type") ?? ""
  const isEvents = /event-stream/i.test(type)
  const limit = isEvents || /ndjson/i.test(type) ? MAX_STREAM : MAX_WHOLE
  const events = isEvents ? new EventMeter() : undefined
  let size = 0
  const bounded = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        size += bytes.length
        if (size > limit) throw tooLarge("The model's answer", limit)
        events?.add(bytes)
        controller.enqueue(bytes)
      },
    }),
  )
  return new Response(bounded, response)
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/** Measures the events of a stream, which end with an empty line. */
class EventMeter {
  #size = 0
  #last = 0

  add(bytes: Uint8Array): void {
    for (const byte of bytes) {
      this.#size = byte === LINE_FEED && this.#last === LINE_FEED ? 0 : this.#size + 1
      if (byte !== CARRIAGE_RETURN) this.#last = byte
    }
    if (this.#size > MAX_EVENT) throw tooLarge("A part of the model's stream", MAX_EVENT)
  }
}

function tooLarge(what: string, limit: number): GloveboxError {
  return new GloveboxError("MODEL_RESPONSE_INVALID", `${what} is larger than ${limit / MEGABYTE} MB.`)
}
