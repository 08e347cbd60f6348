import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { findCgroupPlace, readCgroupTexts } from "./cgroup-places.ts"

async function cgroupFolders(): Promise<string[]> {
  const { folders } = await findCgroupPlace(await readCgroupTexts())
  const lists = await Promise.all(
    [...new Set(folders.values())].map(async (folder) =>
      (await readdir(folder))
        .filter((name) => name.startsWith("glovebox-"))
        .map((name) => join(folder, name)),
    ),
  )
  return lists.flat()
}

/** The cgroups of ours that a process has made and that are there. */
export async function cgroupFoldersOf(pid: number): Promise<string[]> {
  return (await cgroupFolders()).filter((path) => path.split("/").at(-1)?.split("-")[2] === String(pid))
}
