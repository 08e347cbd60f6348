import { readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

// What anyone who imports the framework must have; everything else is loaded where it is used.
// A policy can be a file, which yaml reads.
const ALLOWED_PACKAGES = new Set(["@opentelemetry/api", "@standard-schema/spec", "yaml", "zod"])
// Of node:net a policy takes what tells addresses from names.
const FORBIDDEN_BUILTINS = new Set(["node:child_process", "node:http", "node:https", "node:vm", "node:fs"])

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

describe("the tools' entries", () => {
  const folders = [
    "",
    "ai-sdk/",
    "code-execution/",
    "http/",
    "langchain/",
    "mcp/",
    "mcp-server/",
    "openai-agents/",
  ]

  it.each(folders)(
    "tools/%sindex.ts pulls in no vendor library: each is loaded when it is used",
    (folder) => {
      const { packages } = importsOf(fileURLToPath(new URL(`tools/${folder}index.ts`, import.meta.url)))
      const foreign = [...packages].filter((name) => !name.startsWith("node:") && !ALLOWED_PACKAGES.has(name))
      expect(foreign).toEqual([])
    },
  )
})

describe.each(["models", "memory"])("the entry of %s", (folder) => {
  const { files, packages } = importsOf(fileURLToPath(new URL(`${folder}/index.ts`, import.meta.url)))

  it("reaches no provider, and pulls in no vendor library", () => {
    expect([...files].filter((file) => /\/models\/\w+\//.test(file))).toEqual([])
    const foreign = [...packages].filter((name) => !name.startsWith("node:") && !ALLOWED_PACKAGES.has(name))
    expect(foreign).toEqual([])
  })
})

describe.each(["openai", "anthropic", "ollama", "replay", "cache"])("the model client in %s", (folder) => {
  const { files, packages } = importsOf(fileURLToPath(new URL(`models/${folder}/index.ts`, import.meta.url)))

  it("imports no other provider, and loads its library when it is used", () => {
    const others = [...files].filter(
      (file) => /\/models\/\w+\//.test(file) && !file.includes(`/models/${folder}/`),
    )
    expect(others).toEqual([])
    const foreign = [...packages].filter((name) => !name.startsWith("node:") && !ALLOWED_PACKAGES.has(name))
    expect(foreign).toEqual([])
  })
})

describe("the components' entry", () => {
  const { files, packages } = importsOf(fileURLToPath(new URL("components/index.ts", import.meta.url)))

  it("reaches every kind, and none of their vendors' libraries: each is loaded when it is used", () => {
    const kinds = [
      "executors/docker",
      "executors/wasm",
      "models/openai",
      "models/replay",
      "tools/mcp",
      "memory",
    ]
    for (const kind of kinds)
      expect(
        [...files].some((file) => file.includes(`/src/${kind}/`)),
        kind,
      ).toBe(true)
    const foreign = [...packages].filter((name) => !name.startsWith("node:") && !ALLOWED_PACKAGES.has(name))
    // A policy can be a file, and a container's files are an archive.
    expect(foreign.filter((name) => name !== "modern-tar" && name !== "yaml")).toEqual([])
  })
})
