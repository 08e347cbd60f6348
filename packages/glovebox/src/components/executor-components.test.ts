import { describe, expect, it } from "vitest"
import { configOf, roundTrip } from "../core/components/round-trip.test-kit.ts"
import { failureOf } from "../core/failure-of.test-kit.ts"
import type { Component } from "../core/index.ts"
import { BubblewrapCodeExecutor } from "../executors/bubblewrap/index.ts"
import { DockerCommandLineCodeExecutor } from "../executors/docker/index.ts"
import { createExecutor, pythonFunction } from "../executors/index.ts"
import { DockerJupyterCodeExecutor } from "../executors/jupyter/index.ts"
import { LocalCommandLineCodeExecutor } from "../executors/local/index.ts"
import { WasmCodeExecutor } from "../executors/wasm/index.ts"
import { defaultRegistry } from "./index.ts"

const registry = defaultRegistry()
const add = pythonFunction({
  source: "def add(a, b):\n    return a + b",
  imports: ["math", { from: "typing", names: ["Any"] }],
})
const shared = {
  isolation: "session",
  pool: { size: 0, idleLease: "1m" },
  concurrency: 2,
  carry: { maxBytes: "1MiB", maxFiles: 9 },
  deleteTmpFiles: true,
  functions: [add],
  functionsModule: "mine",
} as const
const system = {
  ...shared,
  cpus: 0.5,
  pids: 20,
  env: { A: "1" },
  interpreter: "fresh",
  verify: "claim",
  languages: { lua: { command: ["lua", "-W"], aliases: ["l"] } },
  initCommand: "true",
} as const

describe("an executor in data", () => {
  it.each<[string, Component]>([
    ["wasm", new WasmCodeExecutor()],
    [
      "wasm with options",
      new WasmCodeExecutor({ ...shared, timeout: "2s", memory: "64MiB", env: { A: "1" } }),
    ],
    ["wasm without files", new WasmCodeExecutor({ carry: false, pool: false })],
    ["bubblewrap", new BubblewrapCodeExecutor()],
    ["bubblewrap with options", new BubblewrapCodeExecutor({ ...system, root: "/srv/root", cgroup: false })],
    ["docker", new DockerCommandLineCodeExecutor()],
    [
      "docker with options",
      new DockerCommandLineCodeExecutor({
        ...system,
        image: "python:3.12-slim",
        timeout: "90s",
        network: { allow: ["pypi.org:443"] },
        capabilities: ["NET_RAW"],
        extraVolumes: { "/srv/data": { bind: "/data" } },
        dockerHost: "unix:///run/docker.sock",
        containerName: "mine",
        autoRemove: false,
        stopContainer: false,
        wheelDir: "/srv/wheels",
        deviceRequests: [{ driver: "nvidia", count: -1, deviceIds: ["0"], capabilities: [["gpu"]] }],
        pull: "never",
      }),
    ],
    ["docker with a folder that is mounted", new DockerCommandLineCodeExecutor({ bindDir: "/srv/work" })],
    ["jupyter", new DockerJupyterCodeExecutor()],
    [
      "jupyter with options",
      new DockerJupyterCodeExecutor({
        image: "me/kernel:1",
        idleTimeout: "30m",
        richOutput: { maxBytes: "1MiB", maxCount: 3 },
        env: { A: "1" },
        pull: "always",
      }),
    ],
  ])("is made again as it was (%s)", (_name, executor) => {
    const made = roundTrip(registry, executor)
    expect(made).toBeInstanceOf(executor.constructor)
    expect(policyOf(made)).toBe(policyOf(executor))
  })

  it("has the policy as plain fields, with everything that it says today", () => {
    const executor = new DockerCommandLineCodeExecutor({ memory: "64MiB" })
    expect(configOf(executor)).toMatchObject({
      policy: { network: "none", readOnlyRoot: true, limits: { memory: 64 * 1024 ** 2, wall: 60_000 } },
    })
    executor.tightenNetwork("none")
    expect(
      failureOf(() => registry.load({ ...executor.toComponent(), config: { policy: { netwrok: "none" } } })),
    ).toMatch(/^POLICY_INVALID/)
  })

  it("that was made narrower is written as it is now", () => {
    const executor = new DockerCommandLineCodeExecutor({ network: { allow: ["pypi.org:443"] } })
    executor.tightenNetwork("none")
    expect(configOf(roundTrip(registry, executor))).toMatchObject({ policy: { network: "none" } })
  })

  it("is read as AutoGen wrote it", () => {
    const config = {
      image: "python:3.12-slim",
      timeout: 30,
      work_dir: "/srv/coding",
      bind_dir: "/srv/coding",
      auto_remove: true,
      stop_container: true,
      functions_module: "functions",
      extra_volumes: {},
      extra_hosts: {},
      delete_tmp_files: false,
    }
    const provider = "autogen_ext.code_executors.docker.DockerCommandLineCodeExecutor"
    const made = registry.load(
      { provider, component_type: "code_executor", config },
      DockerCommandLineCodeExecutor,
    )
    expect(made.policy.fields).toMatchObject({
      image: "python:3.12-slim",
      limits: { wall: 30_000 },
      mounts: [],
    })
    expect(configOf(made)).toMatchObject({ work_dir: "/srv/coding" })
  })

  it.each<[string, () => Component]>([
    ["tls", () => new DockerCommandLineCodeExecutor({ tls: { key: "hush" } })],
    [
      "dangerouslyAllowPlaintext",
      () => new DockerCommandLineCodeExecutor({ dangerouslyAllowPlaintext: true }),
    ],
    ["egress.lookup", () => new DockerJupyterCodeExecutor({ egress: { lookup: async () => [] } })],
    ["bwrapPath", () => new BubblewrapCodeExecutor({ bwrapPath: "/opt/bwrap" })],
  ])("is refused with %s, which data cannot have", (name, make) => {
    const failure = failureOf(() => make().toComponent())
    expect(failure).toMatch(new RegExp(`^COMPONENT_INVALID: .*${name}`))
    expect(failure).not.toContain("hush")
  })

  it.each(["tls", "dangerously_allow_plaintext", "bwrap_path", "dangerouslyRunOnHost", "netwrok"])(
    "is refused with the field %s",
    (field) => {
      for (const kind of ["DockerCommandLine", "DockerJupyter", "Bubblewrap", "Wasm", "LocalCommandLine"]) {
        const provider = `glovebox.executors.${kind}CodeExecutor`
        const loading = (): unknown =>
          defaultRegistry({ dangerouslyRunOnHost: true }).load({ provider, config: { [field]: true } })
        expect(failureOf(loading)).toMatch(new RegExp(`^COMPONENT_INVALID: .*${field}`))
      }
    },
  )

  it("that was chosen is the kind that was chosen", async () => {
    await using executor = await createExecutor({ sandbox: "wasm", timeout: "3s" })
    expect(registry.load(JSON.parse(JSON.stringify(executor.toComponent())))).toBeInstanceOf(WasmCodeExecutor)
  })
})

describe("an executor on the host in data", () => {
  const trusting = defaultRegistry({ dangerouslyRunOnHost: true })
  const local = new LocalCommandLineCodeExecutor({
    dangerouslyRunOnHost: true,
    timeout: "5s",
    workDir: "coding",
    cleanupTempFiles: false,
    functions: [add],
    languages: { lua: { command: "lua" } },
    virtualEnvContext: { binPath: "/venv/bin", envExe: "/venv/bin/python", envDir: "/venv" },
    carry: false,
  })

  it("is refused, whatever the data says", () => {
    const model = local.toComponent()
    for (const provider of [
      model.provider,
      "autogen_ext.code_executors.local.LocalCommandLineCodeExecutor",
    ]) {
      expect(failureOf(() => registry.load({ ...model, provider }))).toMatch(
        /^HOST_EXECUTION_REFUSED: .*localExecutorComponent/,
      )
      expect(failureOf(() => registry.load({ provider, config: {} }))).toMatch(/^HOST_EXECUTION_REFUSED/)
    }
    expect(JSON.stringify(model)).not.toContain("angerously")
  })

  it("is made where the program lets it", () => {
    expect(policyOf(roundTrip(trusting, local))).toBe(policyOf(local))
  })
})

function policyOf(executor: unknown): string {
  return (executor as { readonly policy: { readonly sha256: string } }).policy.sha256
}
