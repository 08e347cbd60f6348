let isWarned = false

/** Tells, once in a process, that code runs without a sandbox. */
export function warnOnce(): void {
  if (isWarned) return
  isWarned = true
  process.emitWarning(
    "LocalCommandLineCodeExecutor runs code on this machine with all rights of this user. Prefer a sandbox: docker, bubblewrap or wasm.",
    { type: "GloveboxWarning", code: "GLOVEBOX_RUNS_ON_HOST" },
  )
}
