import { execFile } from "node:child_process"
import { constants } from "node:fs"
import { access, stat } from "node:fs/promises"
import { delimiter, isAbsolute, join } from "node:path"
import { promisify } from "node:util"
import { GloveboxError } from "../../core/index.ts"
import { shortageError } from "../sandbox/shortage-error.ts"

const run = promisify(execFile)

/** The first that can close the door to further user namespaces. */
const OLDEST = [0, 8] as const
const INSTALL =
  "Install bubblewrap 0.8 or later (apt-get install bubblewrap, dnf install bubblewrap, apk add bubblewrap)"
/** Where systems have the programs that a launch needs. */
export const TOOL_FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]

export interface Bubblewrap {
  readonly path: string
  readonly version: string
}

/** Finds bwrap, and says what to do when it is missing or will not do. */
export async function findBubblewrap(given?: string): Promise<Bubblewrap> {
  if (process.platform !== "linux") {
    throw unavailable(
      `Bubblewrap is for Linux, and this is ${process.platform}. Use Docker, or the embedded sandbox (wasm).`,
    )
  }
  const path = given ?? (await findInPath("bwrap"))
  if (path === undefined) throw unavailable(`There is no bwrap in PATH. ${INSTALL}.`)
  const { stdout } = await run(path, ["--version"], { env: {}, timeout: 10_000 }).catch((cause: unknown) => {
    throw shortageError(path, cause) ?? unavailable(`${path} does not run. ${INSTALL}.`, cause)
  })
  const [, version = "", major = "", minor = ""] = /^bubblewrap ((\d+)\.(\d+)\S*)/.exec(stdout) ?? []
  if (version === "") throw unavailable(`${path} is not bubblewrap. ${INSTALL}.`)
  const isOld = Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]
  if (isOld) throw unavailable(`${path} is bubblewrap ${version}, which is too old. ${INSTALL}.`)
  if (((await stat(path)).mode & 0o6000) !== 0) {
    throw unavailable(
      `${path} is set-user-id, and cannot close the door to further namespaces that way. Remove the bit (chmod u-s ${path}), and let users make namespaces (sysctl kernel.unprivileged_userns_clone=1).`,
    )
  }
  return { path, version }
}

async function findInPath(name: string): Promise<string | undefined> {
  const named = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder))
  return findProgram(name, [...named, ...TOOL_FOLDERS])
}

/** Where a program of the system is. */
export async function findProgram(name: string, folders = TOOL_FOLDERS): Promise<string | undefined> {
  for (const folder of new Set(folders)) {
    const path = join(folder, name)
    if (await isProgram(path)) return path
  }
  return undefined
}

/** The error for what is missing here, with its remedy. */
export function unavailable(message: string, cause?: unknown): GloveboxError {
  return new GloveboxError("SANDBOX_UNAVAILABLE", message, { cause })
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
