import { constants } from "node:os"
import type { EngineBed } from "./engine-bed.ts"

/** Leaves nothing on the engine when the bench is interrupted, too. */
export function cleanUpWhenInterrupted(bed: EngineBed): Disposable {
  const stop = (signal: "SIGINT" | "SIGTERM"): void => {
    void bed.close().finally(() => process.exit(128 + constants.signals[signal]))
  }
  process.once("SIGINT", stop)
  process.once("SIGTERM", stop)
  return {
    [Symbol.dispose]() {
      process.off("SIGINT", stop)
      process.off("SIGTERM", stop)
    },
  }
}
