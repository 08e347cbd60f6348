import { createInterface } from "node:readline"

type Command = (fields: Readonly<Record<string, number>>) => Promise<object>

/** Says that the program is ready, and does what it is told, one thing after the other, until its input ends. */
export async function answerLines(
  address: string,
  commands: Readonly<Record<string, Command>>,
): Promise<void> {
  say({ address })
  for await (const line of createInterface({ input: process.stdin })) {
    const { do: name, ...fields } = JSON.parse(line) as Record<string, number> & { do: string }
    const command = commands[name]
    if (!command) throw new Error(`There is no command ${name}.`)
    say(await command(fields))
  }
}

function say(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
