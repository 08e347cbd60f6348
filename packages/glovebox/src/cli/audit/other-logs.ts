import { readdir } from "node:fs/promises"
import { basename, dirname, extname, join } from "node:path"
import { DEFAULT_LOG } from "./find-log.ts"

/** The logs beside the usual one, of processes that came while another had it. */
export async function otherLogs(): Promise<readonly string[]> {
  const folder = dirname(DEFAULT_LOG)
  const extension = extname(DEFAULT_LOG)
  const stem = `${basename(DEFAULT_LOG, extension)}-`
  const names = await readdir(folder).catch(() => [])
  return names
    .filter((name) => name.startsWith(stem) && name.endsWith(extension))
    .map((name) => ({ name, number: name.slice(stem.length, name.length - extension.length) }))
    .filter(({ number }) => /^\d+$/.test(number))
    .toSorted((a, b) => Number(a.number) - Number(b.number))
    .map(({ name }) => join(folder, name))
}
