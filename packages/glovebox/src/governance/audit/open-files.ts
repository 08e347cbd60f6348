import type { FileHandle } from "node:fs/promises"
import { isMissingFile } from "../../internal/is-missing-file.ts"
import { rotatedFiles } from "./audit-files.ts"
import { openRegular } from "./open-regular.ts"

export interface OpenFile {
  readonly path: string
  readonly handle: FileHandle
}

/**
 * The files of a log, oldest first, each open until the next is asked for. By the path of a log none is passed over, and
 * none comes twice, when one is full and gets another name meanwhile.
 */
export async function* openFiles(log: string | readonly string[]): AsyncGenerator<OpenFile, void> {
  if (typeof log !== "string") {
    for (const path of log) yield* held({ path, handle: await openRegular(path) })
    return
  }
  let last = -1
  const nextRotated = async (): Promise<{ path: string; number: number } | undefined> =>
    (await rotatedFiles(log)).find(({ number }) => number > last)
  for (;;) {
    const rotated = await nextRotated()
    if (rotated) {
      last = rotated.number
      yield* held({ path: rotated.path, handle: await openRegular(rotated.path) })
      continue
    }
    const handle = await openIfThere(log)
    // Between the look and the opening another file may have come into its place.
    if ((await nextRotated()) === undefined) {
      if (handle) yield* held({ path: log, handle })
      return
    }
    await handle?.close()
  }
}

async function* held(file: OpenFile): AsyncGenerator<OpenFile, void> {
  try {
    yield file
  } finally {
    await file.handle.close()
  }
}

/** Undefined when there is no such file. */
export async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await openRegular(path)
  } catch (error) {
    if (isMissingFile(error)) return undefined
    throw error
  }
}
