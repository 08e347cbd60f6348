import { type BigIntStats, constants } from "node:fs"
import { lstat, open, readdir } from "node:fs/promises"
import { join, relative, sep } from "node:path"
import type { Collected, CollectLimits } from "../sandbox/sandbox-agent.ts"
import type { WorkspaceFile } from "../workspace-file.ts"
import { isWorkspacePath } from "../workspace-path.ts"

/** What a folder holds: of each file, what changes when the file does; undefined when it is too much to tell. */
export type FolderState = ReadonlyMap<string, string> | undefined

// Looking takes a moment for each file, twice a call.
const MOST_FILES = 50_000

/** Looks at a folder without reading what is in it; links are not followed, and some folders are left out. */
export async function lookAtFolder(root: string, except: readonly string[]): Promise<FolderState> {
  const hidden = new Set(
    except.map((folder) => relative(root, folder).split(sep).join("/")).filter((path) => path !== ""),
  )
  const state = new Map<string, string>()
  const isAll = await look(root, "", hidden, state)
  return isAll ? state : undefined
}

/** What tells one state of a file from another. */
export function fingerprint({ ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs, mode].join(" ")
}

/** The files of which the two states differ, as far as the limits go; `isOurs` tells those that no code made. */
export async function changesOf(
  root: string,
  before: FolderState,
  after: FolderState,
  limits: CollectLimits,
  isOurs: (path: string, print: string) => boolean,
): Promise<Collected> {
  if (!before || !after) return { files: [], removed: [], over: true }
  const files: WorkspaceFile[] = []
  let bytes = 0
  let over = false
  for (const [path, print] of after) {
    if (before.get(path) === print || isOurs(path, print)) continue
    if (files.length >= limits.maxFiles) return { files, removed: [], over: true }
    const file = await readFile(root, path, limits.maxBytes - bytes)
    if (file === "too large") over = true
    else if (file) {
      bytes += file.content.length
      files.push(file)
    }
  }
  return { files, removed: [...before.keys()].filter((path) => !after.has(path)), over }
}

async function look(
  root: string,
  folder: string,
  hidden: ReadonlySet<string>,
  state: Map<string, string>,
): Promise<boolean> {
  // Gone, or closed to us, by the code that runs meanwhile.
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => [])
  const paths = entries
    .map((entry) => ({ entry, path: folder === "" ? entry.name : `${folder}/${entry.name}` }))
    .filter(({ path }) => !hidden.has(path) && isWorkspacePath(path))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const files = paths.filter(({ entry }) => entry.isFile())
  if (state.size + files.length > MOST_FILES) return false
  const stats = await Promise.all(
    files.map(async ({ path }) => lstat(join(root, path), { bigint: true }).catch(() => undefined)),
  )
  for (const [index, { path }] of files.entries()) {
    const found = stats[index]
    if (found?.isFile()) state.set(path, fingerprint(found))
  }
  for (const { entry, path } of paths) {
    if (entry.isDirectory() && !(await look(root, path, hidden, state))) return false
  }
  return true
}

async function readFile(
  root: string,
  path: string,
  room: number,
): Promise<WorkspaceFile | "too large" | undefined> {
  // In its place there may be a link by now, or a pipe that would wait for a writer.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
  const handle = await open(join(root, path), flags).catch(() => undefined)
  if (!handle) return undefined
  try {
    const found = await handle.stat()
    if (!found.isFile()) return undefined
    if (found.size > room) return "too large"
    const content = Buffer.alloc(found.size)
    const { bytesRead } = await handle.read(content, 0, found.size, 0)
    return { path, content: content.subarray(0, bytesRead), executable: (found.mode & 0o100) !== 0 }
  } finally {
    await handle.close()
  }
}
