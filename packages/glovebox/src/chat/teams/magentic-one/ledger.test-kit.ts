interface Verdict {
  readonly satisfied?: boolean
  readonly looping?: boolean
  readonly progressing?: boolean
  readonly next?: string
  readonly instruction?: string
}

/** A progress ledger as a model writes it. */
export function ledgerText({
  satisfied = false,
  looping = false,
  progressing = true,
  next,
  instruction = "Go on.",
}: Verdict = {}): string {
  const because = (answer: unknown): object => ({ reason: `because ${JSON.stringify(answer)}`, answer })
  return JSON.stringify({
    satisfied: because(satisfied),
    looping: because(looping),
    progressing: because(progressing),
    ...(next === undefined ? {} : { nextSpeaker: because(next) }),
    instruction: because(instruction),
  })
}

/** The last ledger of a run. */
export const SATISFIED = ledgerText({ satisfied: true, next: "a" })
