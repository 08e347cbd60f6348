import { createInterface } from "node:readline/promises"
import type { ApprovalTerminal } from "../../governance/index.ts"
import { abortable } from "../../internal/abortable.ts"

/** The terminal that the command was started on; undefined when nobody is there. */
export function terminalAt(input: NodeJS.ReadStream): ApprovalTerminal | undefined {
  const output = process.stderr
  if (!input.isTTY || !output.isTTY) return undefined
  return {
    get columns() {
      return output.columns || 80
    },
    fd: "inherit",
    // As it is: what somebody approves they must have seen, and not what stands in its place.
    write: (text) => {
      output.write(text)
    },
    ask: async (question, signal) => {
      const reader = createInterface({ input, output })
      try {
        // As everywhere on a terminal: while a line is read, nobody else sees the key.
        reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"))
        const ended = new Promise<undefined>((resolve) => reader.once("close", () => resolve(undefined)))
        return await abortable(Promise.race([reader.question(question, { signal }), ended]), signal)
      } finally {
        reader.close()
      }
    },
    close: () => {},
  }
}
