type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>

// The end of an event in a stream, whichever line ends it has.
const EVENT_ENDS = ["\n\n", "\r\r", "\n\r\n"]

/** `fetch`, for answers that are kept in memory whole: one that is too large, or an event of a stream, is an error. */
export function boundedFetch(mostBytes: number): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (!response.body) return response
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "")
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(bound(mostBytes, isStream)), {
      status,
      statusText,
      headers,
    })
  }
}

function bound(mostBytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  let last = Buffer.alloc(0)
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.length
      if (isStream) {
        const seen = Buffer.concat([last, chunk])
        const end = Math.max(...EVENT_ENDS.map((mark) => endOf(seen, mark)))
        if (end > last.length) size = seen.length - end
        last = Buffer.from(seen.subarray(-2))
      }
      if (size > mostBytes) controller.error(new Error(`an answer has more than ${mostBytes} bytes`))
      else controller.enqueue(chunk)
    },
  })
}

function endOf(bytes: Buffer, mark: string): number {
  const at = bytes.lastIndexOf(mark)
  return at === -1 ? -1 : at + mark.length
}
