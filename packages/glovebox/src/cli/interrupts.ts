import type { EventEmitter } from "node:events"
import { constants } from "node:os"

const PATIENCE_MS = 5_000
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** The signals by which a user or a system ends a command, as an abort. */
export interface Interrupts extends Disposable {
  /** Aborted by the first of them; the second ends the process at once. */
  readonly signal: AbortSignal
  /** 128 plus the number of the signal that came, as shells report it. */
  readonly exitCode: number | undefined
}

export function watchInterrupts(
  source: EventEmitter = process,
  exit: (code: number, name: NodeJS.Signals) => void = leaveBy,
  patienceMs: number = PATIENCE_MS,
): Interrupts {
  const controller = new AbortController()
  let exitCode: number | undefined
  const listeners = SIGNALS.map((name) => {
    const listener = (): void => {
      if (exitCode !== undefined) {
        exit(128 + constants.signals[name], name)
        return
      }
      const code = 128 + constants.signals[name]
      exitCode = code
      // Something may not be interruptible, such as the opening of a pipe that nobody writes to.
      setTimeout(() => exit(code, name), patienceMs).unref()
      controller.abort(new Error(`The command was ended by ${name}.`))
    }
    source.on(name, listener)
    return { name, listener }
  })
  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode
    },
    [Symbol.dispose]: () => {
      for (const { name, listener } of listeners) source.off(name, listener)
    },
  }
}

/** Ends the process by the signal itself: `process.exit` waits for such a pipe too, and so forever. */
function leaveBy(code: number, name: NodeJS.Signals): void {
  process.emit("exit", code)
  if (process.stdin.isTTY) process.stdin.setRawMode(false)
  process.removeAllListeners(name)
  process.kill(process.pid, name)
}
