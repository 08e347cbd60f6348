import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process"
import { GloveboxError } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { shortageError } from "./shortage-error.ts"

/** Starts a process; what keeps it from starting is thrown here, or comes as the child's event, and ends nobody. */
export function startProcess(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawned(program, args, options)
  // One that nobody listens for would end this process.
  child.on("error", () => {})
  // Node makes no streams at all when it ran out of descriptors, and says why only later.
  if (!Array.isArray(child.stdio)) throw notStarted(program, { code: "EMFILE" })
  return child
}

/** The error for a process that could not be started, with the reason. */
export function notStarted(program: string, cause: unknown): GloveboxError {
  return (
    shortageError(program, cause) ??
    new GloveboxError("SANDBOX_UNAVAILABLE", `${program} could not be started: ${errorMessage(cause)}.`, {
      cause,
    })
  )
}

function spawned(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(program, args, options)
  } catch (cause) {
    throw notStarted(program, cause)
  }
}
