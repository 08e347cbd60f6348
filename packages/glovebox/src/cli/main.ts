import { Command, CommanderError } from "commander"
import { GloveboxError } from "../core/index.ts"
import { type CommandOutput, processOutput } from "./command-output.ts"
import { policyCommand } from "./policy-command.ts"
import { version } from "./version.ts"

const EXIT_USAGE = 2

/** Runs the command line; gives the exit code instead of ending the process. */
export async function main(argv: readonly string[]): Promise<number> {
  const output = processOutput()
  try {
    await createProgram(output).parseAsync(argv)
    return output.exitCode
  } catch (error) {
    // Commander has printed what is wrong, and asks for 0 after --help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE
    if (!GloveboxError.is(error)) throw error
    process.stderr.write(`glovebox: ${error.message}\n`)
    return 1
  }
}

function createProgram(output: CommandOutput): Command {
  const program = new Command("glovebox")
    .description("Agents that run the code they write, behind a wall you can prove.")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("Run glovebox --help for what there is.")
    .exitOverride()
  for (const command of [policyCommand(output)]) program.addCommand(inherit(command, program))
  // A word that is no command arrives here as an argument.
  program.allowExcessArguments(true).action((_options: unknown, { args }: Command) => {
    if (args[0] === undefined) program.outputHelp()
    else program.error(`error: unknown command '${args[0]}'`)
  })
  return program
}

// A command added whole does not take over how its parent handles errors.
function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent)
  for (const inner of command.commands) inherit(inner, command)
  return command
}
