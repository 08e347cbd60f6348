import { Redactor } from "../governance/redaction/index.ts"

/** What takes secrets out of all that a command prints; until it is told what is secret, what usually is. */
export class OutputRedaction {
  #redactor: Redactor | undefined

  get redactor(): Redactor {
    this.#redactor ??= new Redactor()
    return this.#redactor
  }

  use(redactor: Redactor): void {
    this.#redactor = redactor
  }

  text(text: string): string {
    return this.redactor.text(text)
  }

  /** As data first, so that it stays JSON. */
  json(value: unknown): unknown {
    return this.redactor.value(JSON.parse(JSON.stringify(value)))
  }
}
