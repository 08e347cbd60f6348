import { readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { describe, expect, it } from "vitest"
import { comparePreset } from "./compare-preset.ts"
import { HAS_NO_DOCKER, POLICY, surprises } from "./verify.test-kit.ts"

// What is known of that container by looking at a real one.
const LET_THROUGH = [
  "fs.write-root",
  "fs.host-workspace",
  "kernel.root",
  "kernel.capabilities",
  "kernel.new-privileges",
  "kernel.trace",
  "net.interfaces",
  "net.host",
  "net.names",
  "net.raw",
  "res.processes",
  "res.memory",
  "res.open-files",
  "res.shortage",
  "res.log",
]
// It has the engine's profile, and no socket or file of the host's beside its folder.
const HELD = [
  "fs.host-file",
  "fs.devices",
  "kernel.seccomp",
  "kernel.mount",
  "sockets.engine",
  "secrets.environment",
]

describe.skipIf(HAS_NO_DOCKER)("the preset autogen-default", () => {
  it("lets through what the policy blocks, and holds what the engine holds for everybody", async () => {
    const { glovebox, other, ...rest } = await comparePreset(
      { ...POLICY, limits: { memory: "64MiB", pids: 48 } },
      { preset: "autogen-default", only: [...LET_THROUGH, ...HELD] },
    )
    expect(rest).toEqual({ preset: "autogen-default", title: expect.stringContaining("AutoGen") })
    expect(surprises(glovebox)).toEqual([])
    const observed = Object.fromEntries(other.probes.map(({ id, observed: seen }) => [id, seen]))
    expect(observed).toEqual({
      ...Object.fromEntries(LET_THROUGH.map((id) => [id, "ALLOWED"])),
      ...Object.fromEntries(HELD.map((id) => [id, "BLOCKED"])),
    })
    expect(
      readdirSync(tmpdir()).filter((name) => name.startsWith(`glovebox-verify-${process.pid}-`)),
    ).toEqual([])
  })
})
