import { createInterface } from "node:readline"

export type Fields = Readonly<Record<string, unknown>>

function tell(fields: Fields): void {
  process.stdout.write(`${JSON.stringify(fields)}\n`)
}

/** Does what each line of the input asks for, and ends with it: a test that is killed leaves nobody behind. */
export function answerLines(commands: Readonly<Record<string, (fields: Fields) => Promise<unknown>>>): void {
  const answer = async (line: string): Promise<void> => {
    const { call, command, ...fields } = JSON.parse(line) as Fields
    try {
      tell({ call, value: await commands[String(command)]?.(fields) })
    } catch (error) {
      tell({ call, error: String(error) })
    }
  }
  createInterface({ input: process.stdin })
    .on("line", (line) => void answer(line))
    .on("close", () => process.exit())
}

/** What is in use when all that can go is gone. */
export function memory(): { readonly heap: number; readonly resident: number } {
  for (let round = 0; round < 3; round++) globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed, resident: rss }
}
