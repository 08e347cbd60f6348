import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises"
import { join } from "node:path"
import { tmpdir } from "node:os"
import type { Batch } from "../measure-rates.ts"
import { AuditLog } from "glovebox/governance"

/** Appends that are under way at the same time, as of a team of agents. */
export const CONCURRENCY = 1000
const PLAIN_BATCH = 256

export type ContenderName = "recordSync" | "groupSerial" | "group" | "plain" | "plainGroup" | "plainSync"

const SHA256 = "a".repeat(64)

/** A record as of a code run; the same for all. */
const entry = {
  kind: "code-run" as const,
  run: "run-1",
  agent: "coder",
  data: {
    phase: "done" as const,
    id: "call-1",
    executor: "docker",
    blocks: [{ language: "python", sha256: SHA256 }],
    policySha256: SHA256,
    imageDigest: `sha256:${SHA256}`,
    exitCode: 0,
    termination: "exit",
    durationMs: 12.5,
    outputSha256: SHA256,
    outputBytes: 1024,
  },
}

const line = `${JSON.stringify({ at: new Date(0).toISOString(), ...entry })}\n`

/** Logs and plain files in one folder, on the disk that the temporary folder is on. */
export class Contenders implements AsyncDisposable {
  readonly #folder: string
  readonly #logs: readonly [AuditLog, AuditLog]
  readonly #plain: FileHandle

  private constructor(folder: string, plain: FileHandle) {
    this.#folder = folder
    this.#plain = plain
    this.#logs = [
      new AuditLog({ path: join(folder, "group.jsonl") }),
      new AuditLog({ path: join(folder, "record.jsonl"), sync: "record" }),
    ]
  }

  static async make(): Promise<Contenders> {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-bench-audit-"))
    return new Contenders(folder, await open(join(folder, "plain.jsonl"), "a"))
  }

  batches(): Record<ContenderName, Batch> {
    const [group, record] = this.#logs
    const plain = this.#plain
    return {
      recordSync: async () => {
        for (let count = 0; count < 16; count += 1) await record.append(entry)
        return 16
      },
      groupSerial: async () => {
        for (let count = 0; count < 16; count += 1) await group.append(entry)
        return 16
      },
      group: async () => {
        await Promise.all(Array.from({ length: CONCURRENCY }, () => group.append(entry)))
        return CONCURRENCY
      },
      plain: async () => {
        for (let count = 0; count < PLAIN_BATCH; count += 1) await plain.write(line)
        return PLAIN_BATCH
      },
      plainGroup: async () => {
        await Promise.all(Array.from({ length: CONCURRENCY }, () => plain.write(line)))
        return CONCURRENCY
      },
      plainSync: async () => {
        for (let count = 0; count < 16; count += 1) {
          await plain.write(line)
          await plain.datasync()
        }
        return 16
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await Promise.allSettled([...this.#logs.map((log) => log.close()), this.#plain.close()])
    } finally {
      await rm(this.#folder, { recursive: true, force: true })
    }
  }
}
