import { describe, expect, it } from "vitest"
import { comparePreset } from "./compare-preset.ts"
import { DOCKER_PRESETS } from "./docker-presets.ts"
import { formatComparison } from "./format-comparison.ts"
import type { ProbeReport, VerifyReport } from "./verify-report.ts"

const held: ProbeReport = {
  id: "fs.write-root",
  family: "filesystem",
  title: "write a file",
  expected: "BLOCKED",
  observed: "BLOCKED",
  pass: true,
  evidence: "EROFS",
}
const through: ProbeReport = {
  ...held,
  observed: "ALLOWED",
  pass: false,
  evidence: "a file was written\u001b[2J there",
}
const kernel: ProbeReport = { ...held, id: "kernel.own-kernel", family: "kernel" }

function report(probes: readonly ProbeReport[]): VerifyReport {
  return {
    policySha256: "ab".repeat(32),
    imageDigest: "sha256:1234",
    kernel: "6.1.0",
    runtime: "runc",
    engine: "Docker 27.3",
    path: "cold",
    sandbox: "docker",
    image: "python:3-slim",
    mode: "standard",
    date: "2026-01-02T03:04:05.678Z",
    durationMs: 1234,
    pass: probes.every(({ pass }) => pass),
    probes,
  }
}

const comparison = { preset: "autogen-default", title: "the container of another" } as const

describe("a comparison with a preset", () => {
  it("shows both side by side, says how many attacks only one blocks, and what one could not be asked", () => {
    const text = formatComparison({
      ...comparison,
      glovebox: report([held, kernel]),
      other: report([through]),
    })
    expect(text).toMatch(/^probe {14}glovebox {9}autogen-default {2}evidence of autogen-default$/m)
    expect(text).toMatch(/^fs\.write-root {6}BLOCKED {10}ALLOWED {10}a file was written there$/m)
    expect(text).toMatch(/^kernel\.own-kernel {2}BLOCKED {10}- *$/m)
    expect(text).toContain("All 2 probes as the policy expects with glovebox.")
    expect(text).toContain("autogen-default lets 1 attacks through that glovebox blocks.")
    expect(text).not.toContain("\u001b")
  })

  it("says so when our own side is not as expected", () => {
    const text = formatComparison({ ...comparison, glovebox: report([through]), other: report([through]) })
    expect(text).toContain("Not as the policy expects with glovebox: fs.write-root.")
    expect(text).toContain("lets 0 attacks through")
  })

  it("is of containers, of presets that there are, and of probes that there are", async () => {
    const refused = { code: "OPTION_INVALID" }
    const preset = "autogen-default"
    await expect(comparePreset({}, { preset, sandbox: "wasm" })).rejects.toMatchObject(refused)
    await expect(comparePreset({}, { preset: "none" as never })).rejects.toMatchObject(refused)
    await expect(comparePreset({}, { preset, only: ["fs.none"] })).rejects.toMatchObject(refused)
  })
})

describe("the preset autogen-default", () => {
  it("says nothing of limits, capabilities, profile, root or user's groups: that is the engine's", () => {
    const means = { folder: "/tmp", token: "", gateway: "172.17.0.1", engineSocket: "" }
    const asked = { Image: "sha256:1", Entrypoint: ["python3"], Cmd: [], Labels: {}, OpenStdin: true }
    const spec = DOCKER_PRESETS["autogen-default"](asked as never, means)
    expect(Object.keys(spec.HostConfig).toSorted()).toEqual([
      "AutoRemove",
      "CapAdd",
      "CapDrop",
      "Dns",
      "Mounts",
      "NetworkMode",
      "SecurityOpt",
      "Tmpfs",
    ])
    expect(spec).toMatchObject({ User: "0:0", WorkingDir: "/workspace", Entrypoint: ["python3"] })
    expect(spec.HostConfig).toMatchObject({
      CapAdd: [],
      CapDrop: [],
      SecurityOpt: [],
      NetworkMode: "default",
    })
  })
})
