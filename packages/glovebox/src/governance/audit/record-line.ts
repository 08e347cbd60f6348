import { createHash } from "node:crypto"
import type { JsonObject } from "../../core/json.ts"

const FORMAT_VERSION = 1

/** What the first record of a log has in the place of a hash. */
export const NO_HASH = "0".repeat(64)

/** A line longer than this is no record: whoever reads a log holds one line at a time. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024

/** One line of the log, as it was read. */
export interface AuditRecord {
  /** Of the format. */
  readonly v: number
  /** From 1, without a gap, over all files of a log. */
  readonly seq: number
  /** The hash of the record before. */
  readonly prev: string
  /** By the wall clock, in UTC. */
  readonly at: string
  /** By the monotonic clock, in microseconds: it counts from the start of the machine. */
  readonly mono: number
  readonly run: string | null
  readonly agent: string | null
  readonly kind: string
  readonly data: JsonObject
  /** SHA-256 of the line without this field. */
  readonly hash: string
}

// No writer goes as deep; whoever shows or writes a record would end the stack.
const MAX_DEPTH = 600

// Last in the line, so that others can cut it off with a text tool.
const SUFFIX = /^,"hash":"([0-9a-f]{64})"\}$/
const SUFFIX_BYTES = 75
const HASH = /^[0-9a-f]{64}$/

/** A record that is to be written; its data is JSON already. */
interface UnsealedRecord extends Omit<AuditRecord, "v" | "data" | "hash"> {
  readonly data: string
}

/** The line of a record, with its end, and its hash. */
export function sealRecord(record: UnsealedRecord): { line: string; hash: string } {
  const { seq, prev, at, mono, run, agent, kind, data } = record
  const frame = JSON.stringify({ v: FORMAT_VERSION, seq, prev, at, mono, run, agent, kind })
  const body = `${frame.slice(0, -1)},"data":${data}}`
  const hash = createHash("sha256").update(body).digest("hex")
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}\n`, hash }
}

/** The record of a line, when it is one and its hash is its own. */
export function openRecord(line: Buffer): AuditRecord | undefined {
  const cut = line.length - SUFFIX_BYTES
  if (cut < 1) return undefined
  const [, hash] = SUFFIX.exec(line.toString("latin1", cut)) ?? []
  if (hash === undefined) return undefined
  const own = createHash("sha256").update(line.subarray(0, cut)).update("}").digest("hex")
  return own === hash ? readRecord(line) : undefined
}

/** The record of a line, whatever its hash. */
export function readRecord(line: Buffer): AuditRecord | undefined {
  try {
    const value: unknown = JSON.parse(line.toString("utf8"))
    return isRecord(value) && !isDeeper(value.data, MAX_DEPTH) ? value : undefined
  } catch {
    return undefined
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}

// By hand: a log of a gigabyte has millions of lines.
function isRecord(value: unknown): value is AuditRecord {
  if (typeof value !== "object" || value === null) return false
  const { v, seq, prev, at, mono, run, agent, kind, data, hash } = value as Record<string, unknown>
  return (
    v === FORMAT_VERSION &&
    Number.isSafeInteger(seq) &&
    typeof prev === "string" &&
    HASH.test(prev) &&
    typeof at === "string" &&
    Number.isFinite(Date.parse(at)) &&
    typeof mono === "number" &&
    (run === null || typeof run === "string") &&
    (agent === null || typeof agent === "string") &&
    typeof kind === "string" &&
    typeof data === "object" &&
    data !== null &&
    typeof hash === "string"
  )
}
