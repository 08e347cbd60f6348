import { sep } from "node:path"
import type { SandboxPolicy } from "../../policy/index.ts"
import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"
import { wayInside } from "../way-inside.ts"

/** Refuses a log that the code itself could change. What is in a folder `.glovebox` is never carried out of a sandbox. */
export async function refuseWritableLog(
  log: string,
  { workDir, policy }: { readonly workDir: string | undefined; readonly policy: SandboxPolicy },
): Promise<void> {
  for (const { mode, source } of policy.fields.mounts) {
    if (mode === "rw" && (await wayInside(log, source)) !== undefined) throw writable(log, source)
  }
  const way = workDir === undefined ? undefined : await wayInside(log, workDir)
  if (workDir !== undefined && way !== undefined && !way.split(sep).includes(".glovebox")) {
    throw writable(log, workDir)
  }
}

function writable(log: string, folder: string): CommandFailure {
  return new CommandFailure(
    `The audit log would be ${log}, and code can change what is in ${folder}. Name another place by --audit <file>.`,
    { exitCode: EXIT_USAGE },
  )
}
