import { lstat, mkdir, readFile, writeFile } from "node:fs/promises"
import { extname, join, resolve } from "node:path"
import type { WorkspaceFile } from "../../executors/workspace-file.ts"
import { errorMessage } from "../../internal/error-message.ts"

/** What became of a file that the code made. */
export interface WrittenOutput {
  /** As the code named it. */
  readonly path: string
  readonly size: number
  /** Where it is now; undefined when it was left out. */
  readonly file: string | undefined
  /** A file of that name with other content was there, so it got a name of its own. */
  readonly isRenamed: boolean
  /** Why it is not there, where that is a failure and not the rule. */
  readonly failure?: string
}

const MOST_NAMES = 1000

/**
 * Writes what the code made into a folder of the user's. Nothing that is there is changed, and no link is followed;
 * hidden files are left out, because tools act on them unasked, and nothing is made executable. A file that cannot be
 * written does not keep the others from being so.
 */
export async function writeOutputs(
  folder: string,
  files: readonly WorkspaceFile[],
  signal?: AbortSignal,
): Promise<readonly WrittenOutput[]> {
  const root = resolve(folder)
  const written: WrittenOutput[] = []
  for (const { path, content } of files) {
    signal?.throwIfAborted()
    const one = { path, size: content.length, file: undefined, isRenamed: false }
    if (path.split("/").some((part) => part.startsWith("."))) {
      written.push(one)
      continue
    }
    try {
      const file = await writeBeside(root, path, content)
      written.push({ ...one, file, isRenamed: file !== join(root, path) })
    } catch (error) {
      written.push({ ...one, failure: errorMessage(error) })
    }
  }
  return written
}

async function writeBeside(root: string, path: string, content: Uint8Array): Promise<string> {
  const parts = path.split("/")
  const name = parts.pop() ?? path
  let parent = root
  for (const part of parts) parent = await folderIn(parent, part)
  for (const candidate of names(name)) {
    const file = join(parent, candidate)
    if (await holds(file, content)) return file
    // With this flag it fails where anything is, a link included.
    const isWritten = await writeFile(file, content, { flag: "wx", mode: 0o644 }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === "EEXIST") return false
        throw error
      },
    )
    if (isWritten) return file
  }
  throw new Error("too many files are called so")
}

async function folderIn(parent: string, part: string): Promise<string> {
  for (const candidate of names(part)) {
    const folder = join(parent, candidate)
    const found = await lstat(folder).catch(() => undefined)
    if (found && !found.isDirectory()) continue
    if (!found) await mkdir(folder)
    return folder
  }
  throw new Error("too many files are called so")
}

function* names(name: string): Generator<string> {
  yield name
  const end = extname(name)
  for (let count = 2; count < MOST_NAMES; count += 1) {
    yield `${name.slice(0, name.length - end.length)}-${count}${end}`
  }
}

async function holds(file: string, content: Uint8Array): Promise<boolean> {
  const found = await lstat(file).catch(() => undefined)
  if (!found?.isFile() || found.size !== content.length) return false
  return (await readFile(file).catch(() => Buffer.alloc(0))).equals(content)
}
