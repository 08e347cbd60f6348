import { readFile } from "node:fs/promises"
import { z } from "zod"
import type { AuditPosition, ExpectedHead } from "../../governance/audit/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"
import { unreadable } from "./find-log.ts"

const HASH = /^(?:(\d{1,15}):)?([0-9a-f]{64})$/
const position = z.object({ seq: z.number().int().min(0), hash: z.string().regex(/^[0-9a-f]{64}$/) })
// What `audit verify --json` printed, or what is kept beside a log.
const kept = z.union([position, z.object({ head: position }).transform(({ head }) => head)])

/** A place in a log that somebody kept: `hash`, `number:hash`, or a file that has it. */
export async function readHead(text: string): Promise<ExpectedHead> {
  const given = parse(text)
  if (given) return given
  const content = await readText("--head", text)
  const found = parse(content.trim()) ?? kept.safeParse(parseJson(content)).data
  if (found) return found
  throw new CommandFailure(`--head: ${text} is no hash, and no file with the head of a log.`, {
    exitCode: EXIT_USAGE,
  })
}

/** The last record before the files that are left: `number:hash`. */
export function readAfter(text: string): AuditPosition {
  const { seq, hash } = parse(text) ?? {}
  if (seq !== undefined && hash !== undefined) return { seq, hash }
  throw new CommandFailure(`--after ${text}: write the number and the hash of a record as number:hash.`, {
    exitCode: EXIT_USAGE,
  })
}

export async function readText(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8")
  } catch (error) {
    throw unreadable(`${flag}: ${path} cannot be read: ${errorMessage(error)}`, error)
  }
}

function parse(text: string): ExpectedHead | undefined {
  const [, seq, hash] = HASH.exec(text) ?? []
  return hash === undefined ? undefined : { seq: seq === undefined ? undefined : Number(seq), hash }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
