import { once } from "node:events"
import { answerLines } from "./answer-lines.ts"
import { openStream } from "./open-stream.ts"

const [address = ""] = process.argv.slice(2)
const { stream, close } = openStream(address)
stream.on("data", (bytes: Buffer) => stream.write(bytes))
await once(stream, "metadata")
await answerLines(address, {})
close()
