import { GloveboxError } from "../../core/index.ts"

const SHORTAGES: Readonly<Record<string, string>> = {
  EMFILE: "this process has no file descriptors left: close some, or raise the limit (ulimit -n)",
  ENFILE: "this machine has no file descriptors left: close some, or raise the limit (fs.file-max)",
  EAGAIN:
    "no more processes can be started: end some, or raise the limit (ulimit -u, or the cgroup's pids.max)",
  ENOMEM: "there is not enough memory left",
  ENOSPC: "there is no space left",
}

/** The error for what failed because this machine ran out of something; undefined when that was not why. */
export function shortageError(what: string, cause: unknown): GloveboxError | undefined {
  const { code = "" } = (cause ?? {}) as NodeJS.ErrnoException
  const shortage = SHORTAGES[code]
  if (shortage === undefined) return undefined
  return new GloveboxError("SANDBOX_UNAVAILABLE", `${what} could not be started: ${shortage} (${code}).`, {
    cause,
  })
}
