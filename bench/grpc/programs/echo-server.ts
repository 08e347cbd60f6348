import { serveStreams } from "./serve-streams.ts"

await serveStreams((stream) => {
  stream.on("data", (bytes: Buffer) => stream.write(bytes))
  stream.on("end", () => stream.end())
})
