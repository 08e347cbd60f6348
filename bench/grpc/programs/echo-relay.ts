import { Metadata, type ServerDuplexStream } from "@grpc/grpc-js"
import { serveStreams } from "./serve-streams.ts"

// Whoever comes first echoes; what the other sends goes there, and back.
let echo: ServerDuplexStream<Buffer, Buffer> | undefined

await serveStreams((stream) => {
  const callee = echo
  if (callee) {
    stream.on("data", (bytes: Buffer) => callee.write(bytes))
    callee.on("data", (bytes: Buffer) => stream.write(bytes))
  } else echo = stream
  stream.on("error", () => {})
  stream.sendMetadata(new Metadata())
})
