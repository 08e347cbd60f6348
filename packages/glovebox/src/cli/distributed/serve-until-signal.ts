import { abortable } from "../../internal/abortable.ts"
import { formatDuration } from "../../policy/index.ts"
import { EXIT_FAILED } from "../command-failure.ts"
import type { CommandOutput } from "../command-output.ts"
import { watchInterrupts } from "../interrupts.ts"
import type { ServerReport } from "./server-report.ts"

export interface Serving {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal
  /** Waits for the signal; then `drain` takes no new work, and resolves when what runs has ended. */
  readonly untilDrained: (drain: () => Promise<void>) => Promise<void>
}

export interface ServeUntilSignalOptions {
  readonly drainTimeoutMs: number
  readonly output: CommandOutput
  readonly report: ServerReport
}

const PUT_AWAY_MS = 5_000
/** By then the process has ended, unless something of a user's module holds it. */
const LINGER_MS = 500

/** Serves until a signal comes, and lets what runs end then; a second signal does not. */
export async function serveUntilSignal(
  serve: (serving: Serving) => Promise<void>,
  { drainTimeoutMs, output, report }: ServeUntilSignalOptions,
): Promise<void> {
  // Not by the signal itself: the first process of a container does not get its own.
  using interrupts = watchInterrupts(process, (code) => process.exit(code), drainTimeoutMs + PUT_AWAY_MS)
  const { signal } = interrupts
  const untilDrained = async (drain: () => Promise<void>): Promise<void> => {
    await abortable(new Promise<never>(() => {}), signal).catch(() => {})
    report.say("draining", "ending, when what runs has ended; a second signal ends it at once")
    if (await endsWithin(drain(), drainTimeoutMs)) return
    report.say("drain-timeout", `what ran did not end within ${formatDuration(drainTimeoutMs)}`)
    process.exit(EXIT_FAILED)
  }
  try {
    await serve({ signal, untilDrained })
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error
  } finally {
    setTimeout(() => process.exit(), LINGER_MS).unref()
  }
  report.say("stopped", "stopped")
  output.exitCode = 0
}

async function endsWithin(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
