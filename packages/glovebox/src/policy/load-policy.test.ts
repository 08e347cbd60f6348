import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { SandboxPolicy, loadPolicy, parsePolicy } from "./index.ts"

const YAML = `# what our agents may do
image: python:3-slim
network: { allow: ["api.example.com:443"] }
limits:
  memory: 1GiB
  wall: 2m
mounts:
  - { source: /data, target: /data }
`

describe("parsePolicy", () => {
  it("reads YAML and JSON alike", () => {
    const policy = parsePolicy(YAML)
    expect(policy.fields.limits).toMatchObject({ memory: 1024 ** 3, wall: 120_000 })
    expect(parsePolicy(JSON.stringify(policy)).sha256).toBe(policy.sha256)
  })

  it("reads an empty file as deny-all", () => {
    expect(parsePolicy("").sha256).toBe(new SandboxPolicy().sha256)
    expect(parsePolicy("# nothing yet\n").sha256).toBe(new SandboxPolicy().sha256)
  })

  it.each([
    ["limits:\n  memroy: 1GiB\n", /p\.yaml:2:\d+: limits\.memroy: .*did you mean "memory"/],
    ["image: x\nlimits:\n  wall: 1s\n  memory: lots\n", /p\.yaml:4:11: limits\.memory: "lots" is not a size/],
    [
      "mounts:\n  - source: /a\n    target: b\n",
      /p\.yaml:3:\d+: mounts\.0\.target: must be an absolute path/,
    ],
    ["image: a\nimage: b\n", /p\.yaml:2:1: .*unique/],
    ["image: [\n", /p\.yaml:\d+:\d+: /],
    ['{\n  "image": 3\n}', /p\.yaml:2:12: image: /],
    ["- a\n- b\n", /p\.yaml:1:1: .*expected object/],
    ["network: !!js/function x\n", /p\.yaml:1:\d+: /],
    ["%YAML 1.1\n---\nreadOnlyRoot: no\n", /YAML 1\.1 is not read/],
  ])("points at the line of what is wrong in %j", (text, message) => {
    const failure = failureOf(() => parsePolicy(text, "p.yaml"))
    expect(failure).toMatch(/^POLICY_INVALID: /)
    expect(failure).toMatch(message)
  })

  it("refuses aliases, which could unfold a small file into a large one", () => {
    const bomb = "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n"
    expect(failureOf(() => parsePolicy(bomb))).toMatch(/^POLICY_INVALID: /)
  })

  it("takes no harm from __proto__", () => {
    expect(failureOf(() => parsePolicy('{"__proto__": {"readOnlyRoot": false}}'))).toMatch(
      /^POLICY_INVALID: /,
    )
    expect(new SandboxPolicy().fields.readOnlyRoot).toBe(true)
  })
})

describe("loadPolicy", () => {
  it("reads a file, and names one it cannot read", async () => {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-policy-"))
    try {
      const file = join(folder, "glovebox.policy.yaml")
      await writeFile(file, YAML)
      expect((await loadPolicy(file)).sha256).toBe(parsePolicy(YAML).sha256)
      await writeFile(file, "limits: 3\n")
      await expectFailure(loadPolicy(file), "POLICY_INVALID", /glovebox\.policy\.yaml:1:9: limits/)
      await expectFailure(
        loadPolicy(join(folder, "none.yaml")),
        "POLICY_INVALID",
        /none\.yaml cannot be read: ENOENT/,
      )
      await expect(loadPolicy(file, { signal: AbortSignal.abort(new Error("stop")) })).rejects.toThrow("stop")
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
