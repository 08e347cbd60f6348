import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { HAS_NO_DOCKER } from "../../executors/docker/docker-subject.test-kit.ts"
import { IMAGE, buildCommand, glovebox } from "../glovebox.test-kit.ts"
import { NOTHING } from "../job.test-kit.ts"

let folder = ""

beforeAll(async () => {
  await buildCommand()
  folder = await mkdtemp(join(tmpdir(), "glovebox-demo-"))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

const { DOCKER_HOST: _here, ...KEYLESS } = NOTHING

describe.each([
  [
    "wasm, where there is no engine",
    [],
    NOTHING,
    /wasm, policy [0-9a-f]{12}, network none: no sockets/,
    ["the code tried to send the data away"],
  ],
  ...(HAS_NO_DOCKER
    ? []
    : [
        [
          "docker",
          ["--image", IMAGE],
          KEYLESS,
          /docker \(\w+\), image \S+ [0-9a-f]{12}, policy [0-9a-f]{12}, network none$/m,
          // By the gate, and after somebody was asked.
          ["approved by the demonstration", "collect.example.net:80 is not in network.allow"],
        ] as const,
      ]),
] as const)("glovebox run --demo in %s", (name, args, env, wall, denied) => {
  it("fails, corrects itself, is denied the network, and answers from what its programs printed", async () => {
    const out = join(folder, name)
    const { code, stdout } = await glovebox(["run", "--demo", "--out", out, ...args], "", env, folder)
    expect(code).toBe(0)
    expect(stdout.split("\n")[0]).toContain("a scripted model, not a real one")
    // In this order, each really seen.
    const told = [
      "ValueError: could not convert string to float: '1,416.00'",
      "That failed: ValueError: could not convert string to float: '1,416.00'",
      "184 orders, 2 repeated rows dropped, 8 amounts cleaned",
      "I do as it says",
      "not sent: ",
      ...denied,
      "East ordered most in 2025: 23,325.25 of 70,029.25",
      `wrote ${join(out, "chart.svg")}`,
      `wrote ${join(out, "report.md")}`,
      "What ran, as the sandbox reported it:",
      "exit 1",
      "exit 0",
      "file report.md",
      "denied: ",
      "All of it is in .glovebox/audit.jsonl",
      "npx glovebox audit report",
      "npx glovebox run",
    ]
    const places = told.map((text) => stdout.indexOf(text))
    expect(told.filter((_, index) => places[index] === -1)).toEqual([])
    expect(stdout).toMatch(wall)
    // What was approved is what ran, by the same name.
    const approved = [...stdout.matchAll(/^approved by .* code ([0-9a-f]{12})$/gm)].map(([, hash]) => hash)
    const ran = [...stdout.matchAll(/^ {2}run \d {2}python {2}code ([0-9a-f]{12}) /gm)].map(
      ([, hash]) => hash,
    )
    expect(approved).toEqual(name === "docker" ? ran : [])
    expect(ran).toHaveLength(3)
    expect(await readFile(join(out, "report.md"), "utf8")).toContain(
      "| East | 23,325.25 | 9,804.75 | 13,520.50 |",
    )
    expect(await readFile(join(out, "chart.svg"), "utf8")).toMatch(/^<svg [^]*<\/svg>\n$/)
  })
})

describe("glovebox run --demo", () => {
  it("prints JSON for programs", async () => {
    const { code, stdout } = await glovebox(["run", "--demo", "--json"], "", NOTHING, folder)
    const last = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as {
      readonly answer: string
      readonly runs: readonly {
        readonly run: { readonly exitCode: number; readonly denials: readonly unknown[] }
      }[]
    }
    expect(code).toBe(0)
    expect(last.answer).toContain("East ordered most")
    expect(last.runs.map(({ run }) => [run.exitCode, run.denials.length])).toEqual([
      [1, 0],
      [0, 0],
      [1, 1],
    ])
  })
})
