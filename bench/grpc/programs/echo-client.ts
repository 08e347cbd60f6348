import { IN_FLIGHT } from "../workload.ts"
import { answerLines } from "./answer-lines.ts"
import { openStream } from "./open-stream.ts"
import { requestFrame } from "./request-frame.ts"
import { concurrentTurn, serialTurn } from "./turn.ts"

const [address = ""] = process.argv.slice(2)
const { stream, close } = openStream(address)
// What comes back is in the order of what went out.
const waiting: (() => void)[] = []
stream.on("data", (bytes: Buffer) => {
  if (bytes.length !== requestFrame.length) throw new Error("The echo is not what was sent.")
  waiting.shift()?.()
})

const echo = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve)
    stream.write(requestFrame)
  })
const lanes = Array.from({ length: IN_FLIGHT }, () => echo)

await answerLines(address, {
  serial: async ({ turnMs = 0 }) => await serialTurn(echo, turnMs),
  concurrent: async ({ turnMs = 0 }) => await concurrentTurn(lanes, turnMs),
})
close()
