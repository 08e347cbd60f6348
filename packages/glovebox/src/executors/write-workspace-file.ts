import { randomBytes } from "node:crypto"
import { lstat, mkdir, open, rename, rm, rmdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { GloveboxError } from "../core/index.ts"
import type { WorkspaceFile } from "./workspace-file.ts"

/** Writes a file below a folder of the host, through no link: one in its place is replaced, one above it is refused. */
export async function writeWorkspaceFile(
  root: string,
  { path, content, executable }: WorkspaceFile,
): Promise<void> {
  await makeParents(root, path)
  const target = join(root, path)
  const temporary = join(dirname(target), `.glovebox-${randomBytes(8).toString("hex")}`)
  try {
    const handle = await open(temporary, "wx", executable ? 0o755 : 0o644)
    try {
      await handle.writeFile(content)
    } finally {
      await handle.close()
    }
    const found = await lstat(target).catch(() => undefined)
    if (found?.isDirectory()) await makeRoom(target)
    // Takes the place of a link instead of writing where it leads.
    await rename(temporary, target)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

async function makeParents(root: string, path: string): Promise<void> {
  const parts = path.split("/").slice(0, -1)
  let folder = root
  for (const part of parts) {
    folder = join(folder, part)
    const found = await lstat(folder).catch(() => undefined)
    if (found?.isDirectory()) continue
    if (found?.isSymbolicLink()) throw linkRefused(folder)
    if (found) await rm(folder)
    await mkdir(folder)
  }
}

// What the sandbox never saw stays: links, and names that it does not take.
async function makeRoom(folder: string): Promise<void> {
  await rmdir(folder).catch((cause: unknown) => {
    throw new GloveboxError(
      "WORKSPACE_FAILED",
      `${folder} is a folder that holds more than the sandbox knows of, and the sandbox made a file of that name. Move it away.`,
      { cause },
    )
  })
}

function linkRefused(path: string): GloveboxError {
  return new GloveboxError(
    "WORKSPACE_FAILED",
    `${path} is a link, and a file of the sandbox would be written through it; that is refused.`,
  )
}
