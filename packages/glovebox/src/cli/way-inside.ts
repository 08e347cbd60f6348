import { realpath } from "node:fs/promises"
import { basename, dirname, join, relative, resolve, sep } from "node:path"

/** The way from a folder to a file in it or below it, by where links lead; the file need not be there yet. */
export async function wayInside(path: string, folder: string): Promise<string | undefined> {
  const real = join(await realFolder(dirname(path)), basename(path))
  const way = relative(await realFolder(folder), real)
  return way === ".." || way.startsWith(`..${sep}`) ? undefined : way
}

async function realFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder)
  } catch {
    const above = dirname(folder)
    return above === folder ? folder : resolve(await realFolder(above), basename(folder))
  }
}
