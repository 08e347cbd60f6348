import { Command, CommanderError } from "commander"
import { GloveboxError } from "../core/glovebox-error.ts"
import { COMMANDS } from "./commands.ts"
import { CommandFailure, EXIT_FAILED, EXIT_USAGE } from "./command-failure.ts"
import { type CommandOutput, processOutput } from "./command-output.ts"
import { version } from "./version.ts"

/** Runs the command line; gives the exit code instead of ending the process. */
export async function main(argv: readonly string[]): Promise<number> {
  const output = processOutput()
  try {
    const program = await createProgram(output, argv[2])
    await program.parseAsync(argv)
    return output.exitCode
  } catch (thrown) {
    const error = firstOf(thrown)
    // Commander has printed what is wrong, and asks for 0 after --help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE
    if (error instanceof CommandFailure) {
      output.note(error.message)
      return error.exitCode
    }
    // A full disk, or a folder that is not there, is no defect that a stack would tell of.
    if (isSystemError(error)) {
      output.note(error.message)
      return EXIT_FAILED
    }
    if (!GloveboxError.is(error))
      throw error instanceof Error ? output.redaction.redactor.error(error) : error
    output.note(error.message)
    return error.code === "OPTION_INVALID" ? EXIT_USAGE : EXIT_FAILED
  }
}

// What failed first says more than what could not be put away after it.
function firstOf(error: unknown): unknown {
  const isSecond = error instanceof Error && error.name === "SuppressedError" && "suppressed" in error
  return isSecond ? firstOf(error.suppressed) : error
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "errno" in error
}

async function createProgram(output: CommandOutput, asked: string | undefined): Promise<Command> {
  const program = new Command("glovebox")
    .description("Agents that run the code they write, behind a wall you can prove.")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .showHelpAfterError(helpHint("glovebox"))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.stdout.put(text),
      writeErr: (text) => output.stderr.put(text),
    })
  for (const { name, summary, load } of COMMANDS) {
    const command = name === asked ? await load(output) : new Command(name)
    program.addCommand(inherit(command.summary(summary), program, "glovebox"))
  }
  // A word that is no command arrives here as an argument.
  program.allowExcessArguments(true).action((_options: unknown, { args }: Command) => {
    if (args[0] === undefined) program.outputHelp()
    else program.error(`error: unknown command '${args[0]}'`)
  })
  return program
}

function helpHint(command: string): string {
  return `Run ${command} --help for what there is.`
}

// A command added whole does not take over how its parent handles errors.
function inherit(command: Command, parent: Command, above: string): Command {
  const name = `${above} ${command.name()}`
  command.copyInheritedSettings(parent).configureHelp({}).showHelpAfterError(helpHint(name))
  for (const inner of command.commands) inherit(inner, command, name)
  return command
}
