import { constants } from "node:fs"
import { access, stat } from "node:fs/promises"
import { join } from "node:path"
import { auditFiles } from "../../governance/audit/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { isMissingFile } from "../../internal/is-missing-file.ts"
import { CommandFailure } from "../command-failure.ts"

/** When a log cannot be read: neither whole nor broken. */
const EXIT_UNREADABLE = 3

/** Where commands keep it. */
export const DEFAULT_LOG = join(".glovebox", "audit.jsonl")

export interface FindLogOptions {
  /** Whether something else than the log itself, such as its head, is enough. */
  readonly isEnough?: ((path: string) => Promise<boolean>) | undefined
}

/** The path of a log that can be read. */
export async function findLog(
  file: string | undefined,
  { isEnough = async () => false }: FindLogOptions = {},
): Promise<string> {
  const path = file ?? DEFAULT_LOG
  const files = await checkedFiles(path)
  if (files.length > 0 || (await isEnough(path))) return path
  const hint = file === undefined ? " Name one, or go to the folder whose agents you ask about." : ""
  throw unreadable(`There is no audit log ${path}.${hint}`)
}

export function unreadable(message: string, cause?: unknown): CommandFailure {
  return new CommandFailure(message, { cause, exitCode: EXIT_UNREADABLE })
}

/** What the system refuses while a log is read is no defect of the log. */
export function asUnreadable(error: unknown): unknown {
  if (!(error instanceof Error && "syscall" in error)) return error
  return unreadable(error.message, error)
}

/** A file that is full gets another name, so one of those that were listed may be gone: then they are listed anew. */
async function checkedFiles(path: string, looksLeft = 20): Promise<readonly string[]> {
  const files = await readable(path, async () => auditFiles(path))
  for (const part of files) {
    if (await readable(part, async () => isGone(part, looksLeft > 0))) {
      return checkedFiles(path, looksLeft - 1)
    }
  }
  return files
}

/** Whether the file is gone, where that may be. */
async function isGone(path: string, mayBeGone: boolean): Promise<boolean> {
  try {
    await checkFile(path)
    return false
  } catch (error) {
    if (mayBeGone && isMissingFile(error)) return true
    throw error
  }
}

async function checkFile(path: string): Promise<void> {
  const found = await stat(path)
  if (found.isDirectory()) throw unreadable(`${path} is a folder. Name the log in it.`)
  // A pipe or a device may never end.
  if (!found.isFile()) throw unreadable(`${path} is no regular file.`)
  await access(path, constants.R_OK)
}

async function readable<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw unreadable(`${path} cannot be read: ${errorMessage(error)}`, error)
  }
}
