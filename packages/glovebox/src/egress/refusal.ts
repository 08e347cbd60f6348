import type { EgressDenial, EgressDenialCode } from "./egress-event.ts"

export interface RefusalOptions {
  /** The rule that came nearest. */
  readonly rule?: string | undefined
  /** Whether it is because something took too long. */
  readonly isTimeout?: boolean
}

/** The gate's no, with what is told of it. Thrown while a connection is decided. */
export class Refusal extends Error {
  override readonly name = "Refusal"
  readonly code: EgressDenialCode
  readonly suggestion: string
  readonly rule: string | undefined
  readonly isTimeout: boolean

  constructor(
    code: EgressDenialCode,
    message: string,
    suggestion: string,
    { rule, isTimeout = false }: RefusalOptions = {},
  ) {
    super(message)
    this.code = code
    this.suggestion = suggestion
    this.rule = rule
    this.isTimeout = isTimeout
  }

  toDenial(resource: string): EgressDenial {
    const { code, rule, message, suggestion } = this
    return { code, rule, resource, message, suggestion }
  }
}

const LONGEST = 120

/** What a client sent, cut and in printable ASCII: it goes into logs, status lines and prompts. */
export function printable(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text
  return cut.replaceAll(/[^\x20-\x7e]/g, (character) => {
    const code = character.charCodeAt(0)
    return code < 256
      ? `\\x${code.toString(16).padStart(2, "0")}`
      : `\\u${code.toString(16).padStart(4, "0")}`
  })
}
