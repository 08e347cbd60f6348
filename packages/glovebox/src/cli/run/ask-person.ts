import { createInterface } from "node:readline/promises"
import type { AskPerson } from "../approval/ask-approval.ts"

/** Asks on the terminal; Ctrl-C there ends the command, as everywhere. Undefined when nobody is there. */
export function personAt(input: NodeJS.ReadStream): AskPerson | undefined {
  if (!input.isTTY || !process.stderr.isTTY) return undefined
  return async (question, signal) => {
    const reader = createInterface({ input, output: process.stderr })
    try {
      reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"))
      // The end of the input is no answer, so it is a no.
      const closed = new Promise<string>((resolve) => reader.once("close", () => resolve("")))
      return await Promise.race([reader.question(question, { signal }), closed])
    } finally {
      reader.close()
    }
  }
}
