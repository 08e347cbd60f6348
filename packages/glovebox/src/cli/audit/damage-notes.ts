import type { CommandOutput } from "../command-output.ts"

const MAX_NOTES = 5

/** Tells of lines that are no records, and of many of them not one by one. */
export class DamageNotes {
  readonly #output: CommandOutput
  #count = 0

  constructor(output: CommandOutput) {
    this.#output = output
  }

  readonly add = ({ file, line }: { readonly file: string; readonly line: number }): void => {
    this.#count += 1
    if (this.#count <= MAX_NOTES) this.#output.note(`line ${line} of ${file} is no record`)
  }

  end(): void {
    const more = this.#count - MAX_NOTES
    if (more > 0)
      this.#output.note(`${more} more ${more === 1 ? "line is no record" : "lines are no records"}`)
  }
}
