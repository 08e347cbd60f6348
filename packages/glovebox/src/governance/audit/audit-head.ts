import { type FileHandle, rename } from "node:fs/promises"
import { dirname } from "node:path"
import { z } from "zod"
import { GloveboxError } from "../../core/glovebox-error.ts"
import { isMissingFile } from "../../internal/is-missing-file.ts"
import { openRegular } from "./open-regular.ts"
import { syncFolder } from "./sync-folder.ts"
import { type Signer, headText } from "./signature.ts"
import { writeNew } from "./write-new.ts"

/** A place in a log: all up to this record, and nothing else, gives this hash. */
export interface AuditPosition {
  readonly seq: number
  readonly hash: string
}

const headSchema = z.object({
  v: z.literal(1),
  seq: z.number().int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  at: z.string(),
  signature: z.string().optional(),
})

/** How far a log had come, kept beside it, so that a cut end shows. */
export type AuditHead = z.infer<typeof headSchema>

// Longer than any head is, so that what is none does not fit.
const MAX_BYTES = 4096

function headPath(path: string): string {
  return `${path}.head`
}

/** The head that is kept beside a log, or undefined when there is none. */
export async function readHead(path: string): Promise<AuditHead | undefined> {
  const text = await readStart(headPath(path))
  if (text === undefined) return undefined
  try {
    return headSchema.parse(JSON.parse(text))
  } catch (cause) {
    throw new GloveboxError("AUDIT_LOG_BROKEN", `${headPath(path)} is not the head of an audit log.`, {
      cause,
    })
  }
}

/** Replaces the head; whoever reads finds the old one or the new one, whole. */
export async function writeHead(
  path: string,
  { seq, hash }: AuditPosition,
  signer: Signer | undefined,
): Promise<void> {
  const head: AuditHead = {
    v: 1,
    seq,
    hash,
    at: new Date().toISOString(),
    signature: signer?.sign(headText({ seq, hash })),
  }
  const part = `${headPath(path)}.part`
  await writeNew(part, `${JSON.stringify(head)}\n`)
  await rename(part, headPath(path))
  await syncFolder(dirname(path))
}

/** What a small file begins with; undefined when there is none. */
async function readStart(path: string): Promise<string | undefined> {
  let handle: FileHandle
  try {
    handle = await openRegular(path, { followsLinks: false })
  } catch (error) {
    if (isMissingFile(error)) return undefined
    throw error
  }
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0)
    return buffer.toString("utf8", 0, bytesRead)
  } finally {
    await handle.close()
  }
}
