import { readFile, stat } from "node:fs/promises"

/** The names that a machine knows by itself, read again when its file changes. */
export class HostsFile {
  readonly #path: string
  #version = ""
  #names: ReadonlyMap<string, readonly string[]> = new Map()

  constructor(path: string) {
    this.#path = path
  }

  /** The addresses of a name in lower case; undefined when the file does not have it. */
  async find(name: string): Promise<readonly string[] | undefined> {
    try {
      const { mtimeMs, size } = await stat(this.#path)
      const version = `${mtimeMs} ${size}`
      if (version !== this.#version) {
        this.#names = parse(await readFile(this.#path, "utf8"))
        this.#version = version
      }
    } catch {
      // A machine may have none.
      return undefined
    }
    return this.#names.get(name)
  }
}

function parse(text: string): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>()
  for (const line of text.split("\n")) {
    const [address = "", ...aliases] = line.split("#", 1)[0]!.trim().split(/\s+/)
    for (const alias of aliases) {
      const name = alias.toLowerCase()
      names.set(name, [...(names.get(name) ?? []), address])
    }
  }
  return names
}
