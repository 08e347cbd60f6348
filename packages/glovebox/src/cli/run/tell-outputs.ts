import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { WorkspaceFile } from "../../executors/workspace-file.ts"
import { formatBytes } from "../../policy/index.ts"
import { type WrittenOutput, writeOutputs } from "./write-outputs.ts"

/** Writes the files that the code made, into a folder made for it if none is named, and tells of each in a line. */
export async function tellOutputs(
  files: readonly WorkspaceFile[],
  out: string | undefined,
  tell: (line: string) => void,
): Promise<readonly WrittenOutput[]> {
  if (files.length === 0) return []
  const folder = out ?? (await mkdtemp(join(tmpdir(), "glovebox-out-")))
  const written = await writeOutputs(folder, files)
  for (const { path, size, file, isRenamed } of written) {
    if (file === undefined) tell(`left out ${path}: hidden files are not brought out`)
    else tell(`wrote ${file} (${formatBytes(size)})${isRenamed ? `, because there is another ${path}` : ""}`)
  }
  return written
}
