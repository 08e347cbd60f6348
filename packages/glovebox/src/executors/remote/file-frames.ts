import { createHash } from "node:crypto"
import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import type { WorkspaceFile } from "../workspace-file.ts"
import { workspacePath } from "../workspace-path.ts"
import { FrameReader } from "./frame-reader.ts"
import { type Frame, writeFrame } from "./frame.ts"

// Each is looked at before anything else is done.
const MAX_FILES = 10_000

const headSchema = z.strictObject({
  path: z.string(),
  executable: z.boolean(),
  sha256: z.string(),
})

/** Files as the bytes of frames. */
export function writeFiles(files: readonly WorkspaceFile[]): Buffer {
  return Buffer.concat(
    files.flatMap(({ path, executable, content }) =>
      writeFrame({ head: { path, executable, sha256: hash(content) }, blobs: [content] }),
    ),
  )
}

/** Files from whoever sent them; CODE_FILE_REFUSED for a path that leads out of the workspace. */
export function readFiles(body: Buffer): readonly WorkspaceFile[] {
  return framesOf(body).map(({ head: told, blobs: [content] }) => {
    const { data: head } = headSchema.safeParse(told)
    if (!head || !content || hash(content) !== head.sha256) throw invalid()
    return { path: workspacePath(head.path), executable: head.executable, content }
  })
}

function framesOf(body: Buffer): Frame[] {
  const reader = new FrameReader(body.length)
  reader.push(body)
  const frames: Frame[] = []
  try {
    for (let next = reader.next(); next && frames.length <= MAX_FILES; next = reader.next())
      frames.push(next.frame)
  } catch (cause) {
    throw invalid(cause)
  }
  if (frames.length > MAX_FILES) throw invalid()
  if (reader.isWhole) return frames
  throw invalid()
}

function hash(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex")
}

function invalid(cause?: unknown): GloveboxError {
  return new GloveboxError("MESSAGE_INVALID", `What was sent is no list of at most ${MAX_FILES} files.`, {
    cause,
  })
}
