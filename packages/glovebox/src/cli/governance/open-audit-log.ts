import type { KeyObject } from "node:crypto"
import { basename, dirname, extname, join, resolve } from "node:path"
import { GloveboxError } from "../../core/index.ts"
import { AuditLog } from "../../governance/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { CommandFailure } from "../command-failure.ts"
import { makePrivate } from "../project-folder.ts"

export interface OpenAuditLogOptions {
  /** Undefined for the usual place. */
  readonly path: string | undefined
  /** The folder that the usual place is in. */
  readonly folder: string
  readonly note: (line: string) => void
  readonly signal: AbortSignal
  readonly signingKey?: KeyObject | undefined
  /** How long to wait for another writer, in milliseconds. @default 1000 */
  readonly waitMs?: number | undefined
}

const FOLDER = ".glovebox"
const NAME = "audit.jsonl"
// Long enough for a short command to end, and short enough for a person to wait.
const WAIT_MS = 1_000
const MOST_WRITERS = 64

/**
 * Opens the log. A log has one writer: while another process has it, as a chat does for hours, this one writes to a log
 * of its own beside it, `audit-2.jsonl`, which the next that comes too late goes on with.
 */
export async function openAuditLog(options: OpenAuditLogOptions): Promise<AuditLog> {
  try {
    const path = options.path === undefined ? await usualPath(options.folder) : resolve(options.path)
    return await openFree(path, options)
  } catch (cause) {
    options.signal.throwIfAborted()
    const why = errorMessage(cause).replace(/\.?$/, ".")
    throw new CommandFailure(
      `The audit log cannot be written, and nothing runs unrecorded: ${why} Name another place by --audit <file>, or keep none by --no-audit.`,
      { cause },
    )
  }
}

async function usualPath(folder: string): Promise<string> {
  return join(await makePrivate(join(folder, FOLDER)), NAME)
}

async function openFree(
  path: string,
  { note, signal, signingKey, waitMs = WAIT_MS }: OpenAuditLogOptions,
): Promise<AuditLog> {
  for (let number = 1; ; number += 1) {
    const file = number === 1 ? path : besides(path, number)
    const log = new AuditLog({ path: file, waitForLockMs: number === 1 ? waitMs : 0, signingKey })
    try {
      await log.open({ signal })
      if (number > 1) note(`another process writes ${path}, so this one writes ${file}`)
      return log
    } catch (error) {
      await log.close()
      if (!GloveboxError.is(error, "AUDIT_LOG_LOCKED") || number === MOST_WRITERS) throw error
    }
  }
}

function besides(path: string, number: number): string {
  const extension = extname(path)
  return join(dirname(path), `${basename(path, extension)}-${number}${extension}`)
}
