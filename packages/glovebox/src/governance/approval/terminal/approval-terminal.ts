import { closeSync, openSync } from "node:fs"
import { createInterface } from "node:readline/promises"
import { ReadStream, WriteStream, isatty } from "node:tty"
import { abortable } from "../../../internal/abortable.ts"

/** A terminal with a person at it. */
export interface ApprovalTerminal {
  /** How wide it is. */
  readonly columns: number
  /** For an editor that is started on it. */
  readonly fd: number | "inherit"
  write(text: string): void
  /** What is typed to a question; undefined when the input has ended. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>
  close(): void
}

/**
 * The terminal that this process was started on, wherever its input comes from.
 *
 * @throws Error when there is none
 */
export function openTerminal(path: string): ApprovalTerminal {
  const fd = openSync(path, "r+")
  if (!isatty(fd)) {
    closeSync(fd)
    throw new Error(`${path} is no terminal`)
  }
  const input = new ReadStream(openSync(path, "r"))
  const output = new WriteStream(openSync(path, "w"))
  return {
    columns: output.columns || 80,
    fd,
    write: (text) => {
      output.write(text)
    },
    ask: async (question, signal) => {
      const reader = createInterface({ input, output })
      // As everywhere on a terminal: while a line is read, nobody else sees the key.
      reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"))
      const ended = new Promise<undefined>((resolve) => reader.once("close", () => resolve(undefined)))
      try {
        return await abortable(Promise.race([reader.question(question), ended]), signal)
      } finally {
        reader.close()
      }
    },
    close: () => {
      input.destroy()
      output.destroy()
      closeSync(fd)
    },
  }
}
