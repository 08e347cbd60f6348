import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { type ContainerSpec, containerSpec } from "../executors/docker/container-spec.ts"
import { SandboxPolicy } from "../policy/index.ts"
import { probesFor } from "../probes/index.ts"
import {
  MUTATIONS,
  type Mutation,
  NO_WALLS,
  changedSettings,
  settingsOf,
} from "./docker-mutations.test-kit.ts"
import { weakenDocker } from "./docker-weakenings.ts"

const POLICY = { mounts: [{ source: "/srv/in", target: "/in" }] }
const FOLDER = "/tmp/glovebox-verify-x"
const MEANS = { folder: FOLDER, token: "secret", gateway: "172.17.0.1", engineSocket: "/run/engine.sock" }

function specOf(policy: ConstructorParameters<typeof SandboxPolicy>[0], runtime = "runc"): ContainerSpec {
  return containerSpec({
    policy: new SandboxPolicy(policy).fields,
    imageId: "sha256:1",
    imageVolumes: ["/data"],
    command: ["python3", "-I"],
    architecture: "x86_64",
    runtime,
    isPodman: false,
    labels: {},
    extraHosts: {},
    deviceRequests: [],
    autoRemove: true,
    endsWithConnection: true,
    env: {},
  })
}

describe("the mutations of a container's settings", () => {
  it("leave out no setting: each new one needs a mutation, or a word on why it is no wall", () => {
    const touched = new Set([...MUTATIONS.flatMap(({ settings }) => settings), ...Object.keys(NO_WALLS)])
    const settings = [...settingsOf(specOf(POLICY)).keys()]
    expect(settings.filter((name) => !touched.has(name))).toEqual([])
    expect(Object.keys(NO_WALLS).filter((name) => !settings.includes(name))).toEqual([])
  })

  it.each(MUTATIONS.map((mutation) => [mutation.by.join(" + "), mutation] as const))(
    "%s changes what it says, and nothing else",
    (_name, { by, settings, needs }: Mutation) => {
      const runtime = needs === "own kernel" ? "runsc" : "runc"
      const { policy, alter } = weakenDocker(POLICY, by, MEANS)
      const changed = changedSettings(specOf(POLICY, runtime), alter(specOf(policy, runtime)))
      expect(changed.map((name) => name.replace(FOLDER, "<folder>"))).toEqual(settings.toSorted())
    },
  )

  it("are told of in the documentation, each in a line", () => {
    const page = readFileSync(new URL("../../../../docs/verify.md", import.meta.url), "utf8")
    const lines = page.split("\n").filter((line) => line.startsWith("| `"))
    const told = ({ settings, probe }: Mutation): boolean =>
      lines.some((line) => [...settings, probe].every((name) => line.includes(`\`${name}\``)))
    expect(MUTATIONS.filter((mutation) => !told(mutation))).toEqual([])
  })

  it("are each noticed by a probe that there is", () => {
    const facts = {
      tier: "docker" as const,
      path: "cold" as const,
      hasOwnKernel: false,
      knownEnv: [],
      imageVolumes: ["/data"],
      hostKernel: "6.0",
      proxyPort: undefined,
      isLocal: true,
    }
    const { fields: policy } = new SandboxPolicy(POLICY)
    const plain = new SandboxPolicy().fields
    const known = [
      { policy, facts },
      { policy: plain, facts },
      { policy: plain, facts: { ...facts, hasOwnKernel: true } },
    ].flatMap((context) => probesFor(context).map(({ id }) => id))
    expect(MUTATIONS.map(({ probe }) => probe).filter((id) => !known.includes(id))).toEqual([])
  })
})
