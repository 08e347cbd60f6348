/** Reads a body of one JSON value to a line, wherever its bytes are cut. */
export async function* jsonLines(body: AsyncIterable<Uint8Array>): AsyncGenerator {
  const decoder = new TextDecoder()
  // Joined once a line is whole: a long one would be looked through again with each piece.
  let pieces: string[] = []
  for await (const bytes of body) {
    const [first = "", ...others] = decoder.decode(bytes, { stream: true }).split("\n")
    pieces.push(first)
    for (const other of others) {
      yield* jsonLine(pieces)
      pieces = [other]
    }
  }
  pieces.push(decoder.decode())
  yield* jsonLine(pieces)
}

function* jsonLine(pieces: readonly string[]): Generator {
  const line = pieces.join("")
  if (line.trim() !== "") yield JSON.parse(line)
}
