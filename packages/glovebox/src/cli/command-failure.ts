export const EXIT_FAILED = 1
export const EXIT_USAGE = 2

/** What a command cannot do, said to the user in one line. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure"
  readonly exitCode: number

  constructor(message: string, options: ErrorOptions & { readonly exitCode?: number } = {}) {
    super(message, options)
    this.exitCode = options.exitCode ?? EXIT_FAILED
  }
}
