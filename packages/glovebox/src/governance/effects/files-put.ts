import { createHash } from "node:crypto"
import type { InputFile } from "../../executors/index.ts"
import { checkInputFiles } from "../../executors/input-file.ts"
import type { AuditData } from "../audit/record-kinds.ts"

// Of more files than these the record has only the number, and a hash over all.
const MAX_LISTED = 200

/** The record of files that somebody puts where code will find them. */
export function filesPut(files: readonly InputFile[]): AuditData<"custom"> {
  const listed = checkInputFiles(files).map(({ path, content }) => ({
    path,
    size: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
  }))
  const all = createHash("sha256").update(JSON.stringify(listed)).digest("hex")
  return {
    name: "files-put",
    detail: { count: listed.length, sha256: all, files: listed.slice(0, MAX_LISTED) },
  }
}
