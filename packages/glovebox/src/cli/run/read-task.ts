import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"
import { readCode } from "../read-code.ts"

/** The words of the command line, or stdin for `-`. */
export async function readTaskText(task: string | undefined, signal: AbortSignal): Promise<string> {
  if (task === undefined) {
    throw new CommandFailure(
      'Nothing to do: say what, as in glovebox run "Which primes are below 50?", or - for stdin. glovebox run --demo shows it.',
      { exitCode: EXIT_USAGE },
    )
  }
  const text = task === "-" ? (await readCode("-", { stdin: process.stdin, signal })).text : task
  if (text.trim() === "") throw new CommandFailure("The task is empty.", { exitCode: EXIT_USAGE })
  return text
}
