import { readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

// What anyone who imports the framework must have; everything else is loaded where it is used.
const ALLOWED_PACKAGES = new Set(["@opentelemetry/api", "@standard-schema/spec", "zod"])
const FORBIDDEN_BUILTINS = new Set(["node:child_process", "node:net", "node:http", "node:vm", "node:fs"])

const IMPORT = /^(?:import|export)\s+(type\s)?[{*][^"]*?\sfrom\s"([^"]+)"/gm

/** Everything a source file imports at run time, directly and through others. */
function importsOf(entry: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set([entry])
  const packages = new Set<string>()
  for (const file of files) {
    const source = readFileSync(file, "utf8")
    for (const [, kind, specifier = ""] of source.matchAll(IMPORT)) {
      if (kind !== undefined) continue
      if (specifier.startsWith(".")) files.add(resolve(dirname(file), specifier))
      else packages.add(specifier)
    }
  }
  return { files, packages }
}

describe("the root entry", () => {
  const { files, packages } = importsOf(fileURLToPath(new URL("index.ts", import.meta.url)))

  it("reaches the core", () => {
    expect([...files].some((file) => file.endsWith("core/single-threaded/dispatcher.ts"))).toBe(true)
  })

  it("pulls in no vendor library, and starts no process", () => {
    const foreign = [...packages].filter((name) => !name.startsWith("node:") && !ALLOWED_PACKAGES.has(name))
    expect(foreign).toEqual([])
    expect([...packages].filter((name) => FORBIDDEN_BUILTINS.has(name))).toEqual([])
  })
})

describe("the executors' entry", () => {
  const { files, packages } = importsOf(fileURLToPath(new URL("executors/index.ts", import.meta.url)))

  it("reaches the factory, and none of the kinds: each is loaded when it is the one", () => {
    expect([...files].some((file) => file.endsWith("executors/factory/make-executor.ts"))).toBe(true)
    const kinds = /\/executors\/(?:docker|jupyter|bubblewrap|wasm|local)\//
    expect([...files].filter((file) => kinds.test(file))).toEqual([])
    expect([...packages].filter((name) => name === "dockerode" || name === "node:child_process")).toEqual([])
  })
})
