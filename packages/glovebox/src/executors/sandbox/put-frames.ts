import type { WorkspaceFile } from "../workspace-file.ts"
import { encodeFrame } from "./agent-frames.ts"

const LONGEST_FRAME = 1024 ** 2

/** The frames that put files into a workspace. */
export function* putFrames(files: Iterable<WorkspaceFile>): Generator<Buffer> {
  for (const { path, content, executable } of files) {
    const mode = executable ? 0o755 : 0o644
    const header = Buffer.from(JSON.stringify({ path, mode, size: content.length }), "utf8")
    const length = Buffer.alloc(2)
    length.writeUInt16BE(header.length)
    const first = content.subarray(0, LONGEST_FRAME - header.length - 2)
    yield encodeFrame("P", length, header, first)
    for (let at = first.length; at < content.length; at += LONGEST_FRAME) {
      yield encodeFrame("D", content.subarray(at, at + LONGEST_FRAME))
    }
  }
}
