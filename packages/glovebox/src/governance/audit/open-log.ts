import { rename } from "node:fs/promises"
import { hostname } from "node:os"
import { basename, dirname } from "node:path"
import { makeFolder } from "../../internal/make-folder.ts"
import type { AuditLogSettings } from "./audit-log-options.ts"
import { readHead } from "./audit-head.ts"
import { rotatedFiles, rotatedPath } from "./audit-files.ts"
import type { ChainState } from "./chain-draft.ts"
import { LogFile, broken, lastRecordOf } from "./log-file.ts"
import { LogLock } from "./log-lock.ts"
import type { LogEvent } from "./own-records.ts"
import { type AuditRecord, NO_HASH } from "./record-line.ts"
import { syncFolder } from "./sync-folder.ts"

/** A log that can be written. */
export interface OpenLog {
  readonly lock: LogLock
  readonly file: LogFile
  readonly state: ChainState
  /** What the next write must tell first. */
  readonly events: readonly LogEvent[]
}

/** Takes the lock, finds the end of the chain, and puts aside what a dead writer left half written. */
export async function openLog(settings: AuditLogSettings, signal: AbortSignal): Promise<OpenLog> {
  const { path } = settings
  await makeFolder(dirname(path), { mode: 0o700 })
  const lock = await LogLock.acquire(path, { waitMs: settings.waitForLockMs, signal })
  try {
    const file = await LogFile.open(path)
    try {
      return { lock, file, ...(await findEnd(path, file)) }
    } catch (error) {
      await file.close()
      throw error
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function findEnd(path: string, file: LogFile): Promise<Pick<OpenLog, "state" | "events">> {
  const { last: own, torn } = await file.tail()
  const before = (await rotatedFiles(path)).at(-1)?.path
  const older = own || before === undefined ? undefined : await lastRecordOf(before)
  const last = own ?? older
  const head = await readHead(path)
  const isAsHeadSays = !head || (last !== undefined && (last.seq > head.seq || last.hash === head.hash))
  if (!isAsHeadSays) {
    throw broken(path, `ends with record ${last?.seq ?? 0}, but had come to record ${head.seq}`)
  }
  const events: LogEvent[] = []
  if (older && before !== undefined) events.push(rotatedEvent(before, older))
  if (torn.length > 0) events.push(await file.putAside(torn, (last?.seq ?? 0) + 1))
  events.push({ event: "opened", pid: process.pid, host: hostname() })
  return { state: stateAfter(last), events }
}

/** Moves the full file away; the next record begins a new one. */
export async function moveAway(path: string, last: Pick<AuditRecord, "seq" | "hash">): Promise<LogEvent> {
  const number = ((await rotatedFiles(path)).at(-1)?.number ?? 0) + 1
  const moved = rotatedPath(path, number)
  await rename(path, moved)
  await syncFolder(dirname(path))
  return rotatedEvent(moved, last)
}

function rotatedEvent(file: string, { seq, hash }: Pick<AuditRecord, "seq" | "hash">): LogEvent {
  return { event: "rotated", previousFile: basename(file), previousSeq: seq, previousHash: hash }
}

function stateAfter(last: AuditRecord | undefined): ChainState {
  if (!last) return { seq: 0, hash: NO_HASH, atMs: 0, sinceCheckpoint: 0 }
  // How far the last checkpoint is behind is not known, but there may be one too many.
  return { seq: last.seq, hash: last.hash, atMs: Date.parse(last.at), sinceCheckpoint: 0 }
}
