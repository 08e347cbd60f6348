/**
 * Makes every answer of `fetch` arrive in these pieces, until it is disposed. A server cannot do that: what it sends
 * apart, the network and Node put together again.
 */
export function inPieces(cut: (bytes: Uint8Array) => readonly Uint8Array[]): Disposable {
  const real = globalThis.fetch
  globalThis.fetch = async (...args) => {
    const response = await real(...args)
    return piecewise(cut(new Uint8Array(await response.arrayBuffer())), response)
  }
  return restoring(real)
}

/** Asks again and again, and cuts the server's answer in two at each of its bytes. It is fetched once, to save time. */
export async function atEveryCut(ask: (cut: number) => Promise<void>): Promise<void> {
  const real = globalThis.fetch
  let answer: { readonly bytes: Uint8Array; readonly response: Response } | undefined
  let cut = 1
  globalThis.fetch = async (...args) => {
    if (!answer) {
      const response = await real(...args)
      answer = { bytes: new Uint8Array(await response.arrayBuffer()), response }
    }
    return piecewise([answer.bytes.subarray(0, cut), answer.bytes.subarray(cut)], answer.response)
  }
  using _restoring = restoring(real)
  for (; cut < (answer?.bytes.length ?? 2); cut += 1) await ask(cut)
}

/** Each byte alone. */
export function byBytes(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (byte) => Uint8Array.of(byte))
}

function piecewise(all: readonly Uint8Array[], { status, headers }: Response): Response {
  const pieces = [...all]
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
  return new Response(body, { status, headers })
}

function restoring(real: typeof fetch): Disposable {
  return {
    [Symbol.dispose]() {
      globalThis.fetch = real
    },
  }
}
