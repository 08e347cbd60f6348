import { readdir } from "node:fs/promises"
import { basename, dirname, extname, join } from "node:path"
import { isMissingFile } from "../../internal/is-missing-file.ts"

const DIGITS = 6

/** The name of the file that holds the records of the number-th part of a log. */
export function rotatedPath(path: string, number: number): string {
  const extension = extname(path)
  const stem = basename(path, extension)
  return join(dirname(path), `${stem}.${String(number).padStart(DIGITS, "0")}${extension}`)
}

/** The number of a rotated file of this log, or undefined when it is none. */
function rotatedNumber(path: string, name: string): number | undefined {
  const extension = extname(path)
  const stem = `${basename(path, extension)}.`
  if (!name.startsWith(stem) || !name.endsWith(extension)) return undefined
  const digits = name.slice(stem.length, name.length - extension.length)
  return /^\d{6,}$/.test(digits) ? Number(digits) : undefined
}

interface RotatedFile {
  readonly path: string
  readonly number: number
}

/** The rotated files of a log, oldest first, without the one that is written. */
export async function rotatedFiles(path: string): Promise<RotatedFile[]> {
  return rotatedAmong(path, await namesIn(dirname(path)))
}

function rotatedAmong(path: string, names: readonly string[]): RotatedFile[] {
  return names
    .flatMap((name) => {
      const number = rotatedNumber(path, name)
      return number === undefined ? [] : [{ path: join(dirname(path), name), number }]
    })
    .toSorted((a, b) => a.number - b.number)
}

/** All files of a log, oldest first; the last is the one that is written. */
export async function auditFiles(path: string): Promise<string[]> {
  // One look: between two, the file that is written may become a rotated one.
  const names = await namesIn(dirname(path))
  const rotated = rotatedAmong(path, names)
  const current = names.includes(basename(path)) ? [path] : []
  return [...rotated.map((file) => file.path), ...current]
}

export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isMissingFile(error)) return []
    throw error
  }
}
