import { existsSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type AuditEntry, type AuditLogOptions, type AuditRecord, AuditLog, readAuditLog } from "./index.ts"

// In memory, where there is such a place: a disk takes its time for each fsync.
const FAST = existsSync("/dev/shm") ? "/dev/shm" : tmpdir()

/** A folder for one test's log. */
export class AuditFolder implements AsyncDisposable {
  readonly folder: string
  readonly path: string

  private constructor(folder: string) {
    this.folder = folder
    this.path = join(folder, "audit.jsonl")
  }

  static async make(root = FAST): Promise<AuditFolder> {
    return new AuditFolder(await mkdtemp(join(root, "glovebox-audit-")))
  }

  log(options: Omit<AuditLogOptions, "path"> = {}): AuditLog {
    return new AuditLog({ path: this.path, ...options })
  }

  /** A log with so many records of the kind custom, closed. */
  async write(count: number, options: Omit<AuditLogOptions, "path"> = {}): Promise<void> {
    await using log = this.log(options)
    await Promise.all(Array.from({ length: count }, (_, index) => log.append(note(`n${index}`))))
  }

  async records(): Promise<AuditRecord[]> {
    const records: AuditRecord[] = []
    for await (const record of readAuditLog(this.path)) records.push(record)
    return records
  }

  async lines(): Promise<string[]> {
    return (await readFile(this.path, "utf8")).split("\n").slice(0, -1)
  }

  async setLines(lines: readonly string[]): Promise<void> {
    await writeFile(this.path, lines.map((line) => `${line}\n`).join(""))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}

export function note(name: string, detail?: Record<string, unknown>): AuditEntry {
  return { kind: "custom", data: { name, detail } }
}
