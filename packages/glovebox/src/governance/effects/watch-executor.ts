import type { CodeExecutor } from "../../executors/index.ts"
import type { Controls } from "./controls.ts"

/** Counts the sandboxes of an executor, and makes its secrets known to the redactor, until it is disposed. */
export function watchExecutor(
  executor: CodeExecutor,
  kind: string,
  { telemetry, redactor }: Pick<Controls, "telemetry" | "redactor">,
): Disposable {
  const pool = telemetry.watchPool(executor, { executor: kind })
  const known = new Set<string>()
  const secrets = executor.onSecret?.(({ name, value }) => {
    if (known.has(value)) return
    known.add(value)
    // For good: what was printed with it may still be on its way.
    redactor?.register(value, { name })
  })
  return {
    [Symbol.dispose]: () => {
      pool[Symbol.dispose]()
      secrets?.[Symbol.dispose]()
    },
  }
}
