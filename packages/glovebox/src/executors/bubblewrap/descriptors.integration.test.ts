import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { hostProgram } from "./host-program.test-kit.ts"

const few = ["sh", "-c", 'ulimit -n 256; exec "$@"', "sh"]
const moduleOf = (kind: string): string =>
  JSON.stringify(fileURLToPath(new URL(`../${kind}/index.ts`, import.meta.url)))

// Tries with so many descriptors left, then with enough again.
const program = (make: string, tries: readonly number[], language: string): string => `
import { closeSync, openSync, readdirSync } from "node:fs"
const attempt = async (action) => action().then(() => console.log("ran"), (error) => console.log(error.name, error.code, /EMFILE/.test(error.message)))
const without = async (left, action) => {
  const files = []
  try { for (;;) files.push(openSync("/dev/null", "r")) } catch {}
  for (const file of files.splice(0, left)) closeSync(file)
  try { await attempt(action) } finally { for (const file of files) closeSync(file) }
}
const call = (executor) => async () => executor.executeCodeBlocks([{ language: "${language}", code: "1" }])
const executor = await (${make})()
await attempt(call(executor))
for (const left of ${JSON.stringify(tries)}) await without(left, call(executor))
const other = await (${make})()
await without(0, async () => other.start())
await attempt(call(executor))
await executor.stop()
await other.stop()
console.log("stopped")`

const refused = "GloveboxError SANDBOX_UNAVAILABLE true"

describe("a host that has run out of file descriptors", () => {
  it.each([
    ["bubblewrap", "async () => new Executor({ pool: false })", [0, 3, 6, 12], "python", refused],
    [
      "local",
      `async () => new (await import(${moduleOf("local")})).LocalCommandLineCodeExecutor({ dangerouslyRunOnHost: true, carry: false, languages: { "true": { command: ["true"] } } })`,
      [4],
      "true",
      refused,
    ],
    [
      "wasm",
      `async () => new (await import(${moduleOf("wasm")})).WasmCodeExecutor({ pool: false })`,
      [0, 3],
      "python",
      // Without a pool it has nothing to start yet.
      "ran",
    ],
  ] as const)("is told so by %s, and lives on", async (_, make, tries, language, start) => {
    const said = await hostProgram({ under: few, code: program(make, tries, language) })
    expect(said.split("\n").filter((line) => !/Warning|trace-warnings/.test(line))).toEqual([
      "ran",
      ...tries.map(() => refused),
      start,
      "ran",
      "stopped",
      "",
    ])
  })
})
