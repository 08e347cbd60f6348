import { abortable } from "../../internal/abortable.ts"
import { LinkedAbort } from "../../internal/linked-abort.ts"
import { formatDuration } from "../../policy/index.ts"
import { ApprovalError } from "./approval-error.ts"
import type { ApprovalProvider } from "./approval-provider.ts"
import { type ApprovalEntry, giveAnswer } from "./approval-store.ts"
import { type GateAnswer, readAnswer } from "./gate-answer.ts"

// The longest that a timer can be set to.
const MAX_TIMER = 2 ** 31 - 1

export interface WaitOptions {
  readonly signal: AbortSignal | undefined
  readonly remainingMs: number
  readonly suspend: boolean
}

/** The first answer to a request, from the provider or from elsewhere; rejects when there is none in time. */
export async function waitForAnswer(
  entry: ApprovalEntry,
  provider: ApprovalProvider | undefined,
  { signal, remainingMs, suspend }: WaitOptions,
): Promise<GateAnswer> {
  const { request } = entry
  const linked = new LinkedAbort(signal)
  const late = (): void => {
    const took = formatDuration(request.expires - request.created)
    linked.abort(new ApprovalError("APPROVAL_EXPIRED", request.id, `Nobody answered within ${took}.`))
  }
  const timer = setTimeout(late, Math.min(Math.max(remainingMs, 0), MAX_TIMER))
  try {
    const asked = suspend
      ? lookOnce(entry, provider, linked.signal)
      : askAndWait(entry, provider, linked.signal)
    return await abortable(asked, linked.signal)
  } finally {
    clearTimeout(timer)
    entry.onAnswer = undefined
    // Whoever is still being asked need not go on.
    linked.abort(new ApprovalError("APPROVAL_ANSWERED", request.id, "The request is settled."))
  }
}

async function askAndWait(
  entry: ApprovalEntry,
  provider: ApprovalProvider | undefined,
  signal: AbortSignal,
): Promise<GateAnswer> {
  const { request } = entry
  if (provider === undefined)
    throw new ApprovalError("APPROVAL_DENIED", request.id, "There is nobody to ask.")
  const elsewhere = new Promise<GateAnswer>((resolve) => {
    entry.onAnswer = resolve
  })
  const asked = Promise.resolve().then(() => provider.ask(request, { signal }))
  const answer = await Promise.race([elsewhere, asked.then((said) => readAnswer(request, said))])
  giveAnswer(entry, answer)
  return entry.answer ?? answer
}

async function lookOnce(
  entry: ApprovalEntry,
  provider: ApprovalProvider | undefined,
  signal: AbortSignal,
): Promise<GateAnswer> {
  const { request } = entry
  const said = await provider?.peek?.(request)
  if (said === undefined) {
    await provider?.post?.(request, { signal })
    throw new ApprovalError(
      "APPROVAL_PENDING",
      request.id,
      `Request ${request.id} waits for an approval. Save the state, and come back when it is answered.`,
    )
  }
  const answer = readAnswer(request, said)
  giveAnswer(entry, answer)
  return entry.answer ?? answer
}
