import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { main } from "./main.ts"

let out = ""
let err = ""

beforeEach(() => {
  out = ""
  err = ""
  vi.spyOn(process.stdout, "write").mockImplementation((text) => (out += String(text)) !== "")
  vi.spyOn(process.stderr, "write").mockImplementation((text) => (err += String(text)) !== "")
})

afterEach(() => {
  vi.restoreAllMocks()
})

const exec = (...args: string[]): Promise<number> => main(["node", "glovebox", "exec", "--no-audit", ...args])
const here = import.meta.filename
const folder = mkdtempSync(join(tmpdir(), "glovebox-exec-"))
const dockerOnly = join(folder, "docker-only.yaml")
writeFileSync(dockerOnly, "tiers: [docker]\n")

afterAll(() => rmSync(folder, { recursive: true }))

describe("glovebox exec", () => {
  it.each([
    [[here, "--sandbox", "vm"], "Allowed choices are auto, docker, jupyter, bubblewrap, wasm, local"],
    [[here, "--sandbox", "local"], "local is no sandbox"],
    [[here, "--dangerously-run-on-host"], "is for --sandbox local"],
    [[here, "--sandbox", "wasm", "--image", "x"], "image is for docker and jupyter"],
    [[here, "--timeout", "soon"], "Write a time such as 30s"],
    [[here, "--timeout", "999h"], "limits.wall"],
    [[here, "--image", "not an image"], "image"],
    [[here, "--lang", "pyton"], "Did you mean python?"],
    [[join(here, "../../../package.json")], "give it by --lang"],
    [[here, "more"], "too many arguments"],
    [[here, "--code", "print(1)"], "name one"],
    [[here, "--docker-host", "nowhere"], "is not the address of an engine"],
  ])("exits with 2 for %j", async (args, words) => {
    expect(await exec(...args)).toBe(2)
    expect(err).toContain(words)
    expect(out).toBe("")
  })

  it.each([
    [["none.py"], "glovebox: none.py cannot be read: there is no such file.\n"],
    [["--code", " "], "glovebox: --code is empty: there is nothing to run.\n"],
    [[here, "--policy", "none.yaml"], "glovebox: The policy file none.yaml cannot be read"],
    [
      [here, "--docker-host", "unix:///nonexistent.sock"],
      "glovebox: No Docker engine answers at unix:///nonexistent.sock",
    ],
    [
      [here, "--sandbox", "wasm", "--policy", dockerOnly],
      "glovebox: The policy does not let wasm run the code",
    ],
  ])("exits with 1 for %j, and says why in one line", async (args, words) => {
    expect(await exec(...args)).toBe(1)
    expect(err).toContain(words)
    expect(err.trim().split("\n")).toHaveLength(1)
    expect(out).toBe("")
  })
})
