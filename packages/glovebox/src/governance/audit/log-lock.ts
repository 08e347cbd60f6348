import { randomBytes, randomInt } from "node:crypto"
import { lstat, open, rm, utimes } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { GloveboxError } from "../../core/glovebox-error.ts"
import { namesIn } from "./audit-files.ts"
import { type ProcessIdentity, isAlive, ownIdentity } from "./host-identity.ts"

const HEARTBEAT_MS = 10_000
// Of a process that cannot be seen from here (another machine, another container) a beat is all there is.
const SILENT_MS = 60_000
// Two that come at the same moment see each other and both step back: they try again, each after a time of its own.
const TRIES = 6

export interface LockOptions {
  /** How long to wait for another writer; 0 tries only as long as it takes to be sure that there is one. */
  readonly waitMs: number
  /** Ends the waiting; who need not wait never looks at it. */
  readonly signal: AbortSignal
}

/**
 * The right to write a log. Each who wants it puts a file of its own beside the log, and then looks for others: whoever
 * finds one of a living process steps back. No file is ever taken over, so none can be taken from a living process.
 */
export class LogLock {
  readonly #file: string
  readonly #heartbeat: NodeJS.Timeout

  private constructor(file: string) {
    this.#file = file
    this.#heartbeat = setInterval(() => {
      const now = new Date()
      // When it is gone, the next write finds out.
      utimes(this.#file, now, now).catch(() => {})
    }, HEARTBEAT_MS)
    this.#heartbeat.unref()
  }

  /** @throws AUDIT_LOG_LOCKED */
  static async acquire(path: string, { waitMs, signal }: LockOptions): Promise<LogLock> {
    const deadline = performance.now() + waitMs
    for (let attempt = 1; ; attempt += 1) {
      const file = claimPath(path)
      await (await open(file, "wx", 0o600)).close()
      let other: string | undefined = file
      try {
        other = await livingClaim(path, file)
        if (other === undefined) return new LogLock(file)
      } finally {
        if (other !== undefined) await rm(file, { force: true })
      }
      if (attempt >= TRIES && performance.now() >= deadline) throw locked(path, other)
      await pause(randomInt(1, Math.min(4 * attempt, 100)), undefined, { signal })
    }
  }

  /** @throws AUDIT_LOG_LOCKED when somebody took this process for dead */
  async check(path: string): Promise<void> {
    try {
      await lstat(this.#file)
    } catch (cause) {
      throw new GloveboxError(
        "AUDIT_LOG_LOCKED",
        `The right to write ${path} was taken away: ${basename(this.#file)} is gone. Open the log again.`,
        { cause },
      )
    }
  }

  async release(): Promise<void> {
    clearInterval(this.#heartbeat)
    await rm(this.#file, { force: true })
  }
}

function claimPath(path: string): string {
  const { pid, start, machine, boot, namespace } = ownIdentity()
  const unique = randomBytes(4).toString("hex")
  return `${path}.lock-${[pid, start, machine, boot, namespace, unique].join("-")}`
}

/** The claim of somebody else who is alive; what dead ones left is removed. */
async function livingClaim(path: string, own: string): Promise<string | undefined> {
  const prefix = `${basename(path)}.lock-`
  for (const name of await namesIn(dirname(path))) {
    const file = join(dirname(path), name)
    if (!name.startsWith(prefix) || file === own) continue
    const identity = identityOf(name.slice(prefix.length))
    if (!identity) continue
    if (isAlive(identity) ?? (await beats(file))) return file
    await rm(file, { force: true })
  }
  return undefined
}

function identityOf(text: string): ProcessIdentity | undefined {
  const [pid = "", start, machine, boot, namespace, ...rest] = text.split("-")
  if (!/^\d+$/.test(pid) || rest.length !== 1) return undefined
  if (start === undefined || machine === undefined || boot === undefined || namespace === undefined)
    return undefined
  return { pid: Number(pid), start, machine, boot, namespace }
}

async function beats(file: string): Promise<boolean> {
  try {
    return Date.now() - (await lstat(file)).mtimeMs < SILENT_MS
  } catch {
    return false
  }
}

function locked(path: string, claim: string): GloveboxError {
  const pid = identityOf(claim.slice(path.length + ".lock-".length))?.pid
  return new GloveboxError(
    "AUDIT_LOG_LOCKED",
    `Process ${pid ?? "unknown"} writes ${path} (${basename(claim)}). ` +
      "Give each process a log of its own, or wait for it with the option waitForLockMs.",
  )
}
