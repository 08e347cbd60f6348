import { z } from "zod"
import { image } from "../models/index.ts"
import { type Tool, tool } from "./index.ts"

/** Tools that an adapter has to carry over: text, an image, an error, one that is fatal, and an approval. */
export function sampleTools(ran: string[] = []): Tool[] {
  const note = z.object({ text: z.string(), times: z.int().default(1) })
  return [
    tool({
      name: "repeat",
      description: "Repeats a text",
      parameters: note,
      execute: ({ text, times }, { callId }) => {
        ran.push(`repeat ${callId}`)
        return text.repeat(times)
      },
    }),
    tool({
      name: "draw",
      description: "Draws",
      execute: () => ["A dot:", image(Buffer.from("89504E470D0A1A0A0000", "hex"))],
    }),
    tool({
      name: "fail",
      description: "Fails",
      execute: () => {
        throw new Error("out of ink")
      },
    }),
    tool({
      name: "crash",
      description: "Fails for good",
      errors: "fatal",
      execute: () => {
        throw new Error("on fire")
      },
    }),
    tool({
      name: "remove",
      description: "Removes a file",
      parameters: z.object({ path: z.string() }),
      approval: ({ path }) => !path.startsWith("tmp/"),
      execute: ({ path }) => {
        ran.push(`remove ${path}`)
        return "removed"
      },
    }),
  ]
}
