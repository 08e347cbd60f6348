import { z } from "zod"
import { readOptions } from "../../core/read-options.ts"
import type { ConsoleStream } from "./console-output.ts"
import { UserInputManager } from "./user-input-manager.ts"

export interface ConsoleOptions {
  /** @default process.stdout */
  readonly output?: ConsoleStream | undefined
  /** Draws for a person at a terminal, or plain lines for a program. @default true at a terminal, unless NO_COLOR is set */
  readonly colors?: boolean | undefined
  /** Tells what was used at the end: messages, tokens, time. @default the same as colors */
  readonly outputStats?: boolean | undefined
  /** Names images only, also where a terminal could show them. @default false */
  readonly noInlineImages?: boolean | undefined
  /** Stops reading the stream, and rejects with its reason. Give it to the run too, to end that at once. */
  readonly signal?: AbortSignal | undefined
  /** Whose questions wait until all that was said before is drawn. */
  readonly userInput?: UserInputManager | undefined
}

const schema = z.strictObject({
  output: z
    .custom<ConsoleStream>(
      (value) => typeof value === "object" && value !== null && "write" in value && "on" in value,
      "is no stream that can be written to",
    )
    .optional(),
  colors: z.boolean().optional(),
  outputStats: z.boolean().optional(),
  noInlineImages: z.boolean().default(false),
  signal: z.instanceof(AbortSignal).optional(),
  userInput: z.instanceof(UserInputManager).optional(),
})

export interface ReadConsoleOptions {
  readonly output: ConsoleStream
  readonly isRich: boolean
  readonly showsImages: boolean
  readonly outputStats: boolean
  readonly signal: AbortSignal | undefined
  readonly userInput: UserInputManager | undefined
}

export function readConsoleOptions(options: ConsoleOptions): ReadConsoleOptions {
  const read = readOptions("Console", schema, options, {
    otherNames: { user_input_manager: "userInput", userInputManager: "userInput" },
  })
  const { output = process.stdout, signal, userInput } = read
  const { TERM, NO_COLOR, TERM_PROGRAM } = process.env
  const isTerminal = output.isTTY === true && TERM !== "dumb"
  const isRich = read.colors ?? (isTerminal && !NO_COLOR)
  return {
    output,
    isRich,
    showsImages: isTerminal && !read.noInlineImages && TERM_PROGRAM === "iTerm.app",
    outputStats: read.outputStats ?? isRich,
    signal,
    userInput,
  }
}
