/**
 * Makes every answer of `fetch` arrive in these pieces, until it is disposed. A server cannot do that: what it sends
 * apart, the network and Node put together again.
 */
export function inPieces(cut: (bytes: Uint8Array) => readonly Uint8Array[]): Disposable {
  const real = globalThis.fetch
  globalThis.fetch = async (...args) => {
    const response = await real(...args)
    const pieces = [...cut(new Uint8Array(await response.arrayBuffer()))]
    const body = new ReadableStream(
      {
        pull(controller) {
          const piece = pieces.shift()
          if (piece) controller.enqueue(piece)
          else controller.close()
        },
      },
      // Nothing is fetched ahead, so that each read is one piece.
      { highWaterMark: 0 },
    )
    return new Response(body, { status: response.status, headers: response.headers })
  }
  return {
    [Symbol.dispose]() {
      globalThis.fetch = real
    },
  }
}

/** Each byte alone. */
export function byBytes(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (byte) => Uint8Array.of(byte))
}
