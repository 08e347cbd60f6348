import { readFile } from "node:fs/promises"
import { GloveboxError } from "../../core/index.ts"
import { shortageError } from "../sandbox/shortage-error.ts"
import { unavailable } from "./find-tools.ts"

/** Why bwrap could not make its namespaces, and the remedy. */
export async function explainFailure(said: string, cause: unknown): Promise<GloveboxError> {
  const shortage = shortageError("bwrap", cause)
  if (shortage) return shortage
  const closed = /user namespace|new namespace|unshare failed|uid map|Operation not permitted|No space left/i
  if (/execvp (?:python3|sh): No such file|python3: (?:command )?not found/.test(said)) {
    return unavailable(
      `The sandbox's tree has no ${said.includes("sh:") ? "sh" : "python3"}, which its agent needs: install Python 3 in /usr, or name a tree that has it (root).`,
      cause,
    )
  }
  if (/mount(?:ing)? proc|mount proc/i.test(said)) {
    return unavailable(
      `bwrap may not mount a /proc of its own (${said}), as in a container whose /proc is covered. Run outside of it, or let the container have an uncovered /proc (--security-opt systempaths=unconfined).`,
      cause,
    )
  }
  if (/MemoryError|Cannot allocate memory/.test(said)) {
    return new GloveboxError(
      "SANDBOX_SETUP_FAILED",
      `Not even the sandbox's agent fits into limits.memory (${said}). Raise it: Python itself needs some 64MiB.`,
      { cause },
    )
  }
  if (closed.test(said))
    return unavailable(`bwrap could not make its namespaces (${said}). ${await remedy()}`, cause)
  return new GloveboxError("SANDBOX_SETUP_FAILED", `bwrap could not make the sandbox: ${said}`, { cause })
}

/** The same error, or one of ours in the place of what a call of the system threw. */
export function systemFailure(error: unknown): unknown {
  const { syscall, message } = error as NodeJS.ErrnoException
  if (GloveboxError.is(error) || syscall === undefined) return error
  return (
    shortageError("The sandbox", error) ??
    new GloveboxError("SANDBOX_SETUP_FAILED", `The sandbox could not be made: ${message}`, { cause: error })
  )
}

async function remedy(): Promise<string> {
  if ((await setting("kernel/unprivileged_userns_clone")) === "0") {
    return "The kernel lets no user make namespaces: sysctl -w kernel.unprivileged_userns_clone=1."
  }
  if ((await setting("user/max_user_namespaces")) === "0") {
    return "The kernel allows no user namespaces: sysctl -w user.max_user_namespaces=10000."
  }
  if ((await setting("kernel/apparmor_restrict_unprivileged_userns")) === "1") {
    return "AppArmor restricts user namespaces: give bwrap a profile with the permission userns, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0."
  }
  return "In a container, its engine may forbid them: run outside of it, or let the container make namespaces (--security-opt seccomp=unconfined for Docker)."
}

async function setting(path: string): Promise<string> {
  return (await readFile(`/proc/sys/${path}`, "utf8").catch(() => "")).trim()
}
