import type { CodeExecutor } from "../../executors/index.ts"

/** Which kind of executor it is, as far as it tells: docker, jupyter, bubblewrap, wasm, local. */
export function executorKind(executor: CodeExecutor): string {
  if ("kind" in executor && typeof executor.kind === "string") return executor.kind
  if ("describe" in executor && typeof executor.describe === "function") {
    const { sandbox } = (executor.describe() ?? {}) as { readonly sandbox?: unknown }
    if (typeof sandbox === "string") return sandbox
  }
  return executor.constructor.name
}
