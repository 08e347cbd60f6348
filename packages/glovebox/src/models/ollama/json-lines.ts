/** Reads a body of one JSON value to a line, wherever its bytes are cut. */
export async function* jsonLines(body: AsyncIterable<Uint8Array>): AsyncGenerator {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true })
    const lines = rest.split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) if (line.trim() !== "") yield JSON.parse(line)
  }
  rest += decoder.decode()
  if (rest.trim() !== "") yield JSON.parse(rest)
}
