import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { promisify } from "node:util"
import { type TarEntry, packTar } from "modern-tar"
import { dockerCommand } from "./docker-command.test-kit.ts"
import { IMAGE } from "./docker-subject.test-kit.ts"
import { findEngine } from "./engine-address.ts"
import { Engine } from "./engine.ts"
import { fileEntry } from "./image-files.test-kit.ts"

const run = promisify(execFile)
const LABEL = "org.glovebox.test"

/** Whether this machine's Node, which is the images' too, is at least of this version in its line, or of a later line. */
export function nodeIsAtLeast(...versions: readonly string[]): boolean {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  const [latest = ""] = versions.toSorted((a, b) => Number.parseFloat(b) - Number.parseFloat(a))
  return versions.some((version) => {
    const [line = 0, least = 0] = version.split(".").map(Number)
    return (major === line && minor >= least) || (version === latest && major > line)
  })
}

/** This machine's Node and the libraries it is linked to, as files of a root. */
export async function nodeFiles(): Promise<TarEntry[]> {
  const { stdout } = await run("ldd", [process.execPath])
  const libraries = [...new Set(stdout.match(/\/\S+/g) ?? [])].filter((path) => path !== process.execPath)
  return [
    fileEntry("usr/local/bin/node", await readFile(process.execPath), 0o755),
    ...(await Promise.all(
      libraries.map(async (path) => fileEntry(path.slice(1), await readFile(path), 0o755)),
    )),
  ]
}

/** An image of these files alone; of two with one name the later. */
export async function scratchImage(name: string, entries: readonly TarEntry[]): Promise<void> {
  const changes = ["ENV PATH=/usr/local/bin:/usr/bin:/bin", `LABEL ${LABEL}=scratch`]
  const child = spawn("docker", ["import", ...changes.flatMap((change) => ["--change", change]), "-", name], {
    stdio: ["pipe", "ignore", "inherit"],
  })
  const ended = once(child, "exit")
  const files = new Map(entries.map((entry) => [entry.header.name, entry]))
  child.stdin.end(await packTar([...files.values()]))
  const [code] = (await ended) as [number]
  if (code !== 0) throw new Error(`docker import ended with ${code}`)
}

/** The sandbox's own image with those of the files that it lacks. */
export async function derivedImage(name: string, entries: readonly TarEntry[]): Promise<void> {
  const names = entries.map(({ header }) => `/${header.name}`)
  const script = `for file; do [ -e "$file" ] || echo "$file"; done`
  const missing = await dockerCommand(
    "run",
    "--rm",
    "--network",
    "none",
    "--label",
    LABEL,
    IMAGE,
    "sh",
    "-c",
    script,
    "sh",
    ...names,
  )
  const lacks = new Set(missing.split("\n"))
  const archive = await packTar(entries.filter((_entry, index) => lacks.has(names[index] ?? "")))
  const engine = new Engine(await findEngine())
  try {
    await engine.freeze({ base: IMAGE, archive, name, labels: { [LABEL]: "derived" } })
  } finally {
    engine.close()
  }
}
