import { Command, CommanderError } from "commander"
import { version } from "./version.ts"

/** Runs the command line; gives the exit code instead of ending the process. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync(argv)
    return 0
  } catch (error) {
    // Commander has printed what is wrong, and asks for 0 after --help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    throw error
  }
}

function createProgram(): Command {
  const program = new Command("glovebox")
    .description("Agents that run the code they write, behind a wall you can prove.")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("Run glovebox --help for what there is.")
    .exitOverride()
  program.action(() => program.outputHelp())
  return program
}
