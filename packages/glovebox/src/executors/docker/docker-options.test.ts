import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { type PolicyFields, SandboxPolicy } from "../../policy/index.ts"
import {
  type DockerCommandLineCodeExecutorOptions as Options,
  type DockerOptions,
  readDockerOptions,
} from "./docker-options.ts"

const MiB = 1024 ** 2
const read = (options: Options = {}): DockerOptions => readDockerOptions(options)
const policyOf = (options: Options): PolicyFields => read(options).policy.fields
const refusal = (options: unknown): string => failureOf(() => read(options as Options))

describe("readDockerOptions", () => {
  it("gives deny-all, a pool, and files carried in memory when nothing is asked for", () => {
    const options = read()
    expect(options.policy.sha256).toBe(new SandboxPolicy().sha256)
    expect(options).toMatchObject({
      isolation: "run",
      interpreter: "ready",
      pool: { size: 2, idleLease: 300_000 },
      concurrency: 4,
      carry: { maxBytes: 64 * MiB, maxFiles: 4096 },
      deleteTmpFiles: false,
      autoRemove: true,
      stopContainer: true,
      functions: [],
      functionsModule: "functions",
      deviceRequests: [],
      extraHosts: {},
      pull: "missing",
    })
  })

  it("makes each short form a field of the policy, and nothing else of it", () => {
    const plain = new SandboxPolicy().toJSON()
    const cases: [Options, Partial<PolicyFields>][] = [
      [{ image: "a:1" }, { image: "a:1" }],
      [{ timeout: "5s" }, { limits: { ...plain.limits, wall: 5000 } }],
      [{ timeout: 1500 }, { limits: { ...plain.limits, wall: 1500 } }],
      [{ memory: "1GiB" }, { limits: { ...plain.limits, memory: 1024 * MiB } }],
      [{ cpus: 2 }, { limits: { ...plain.limits, cpus: 2 } }],
      [{ cpuQuota: 50_000 }, { limits: { ...plain.limits, cpus: 0.5 } }],
      [{ cpuQuota: 50_000, cpuPeriod: 25_000 }, { limits: { ...plain.limits, cpus: 2 } }],
      [{ pids: 9 }, { limits: { ...plain.limits, pids: 9 } }],
      [{ network: { dangerously: "bridge" } }, { network: { dangerously: "bridge" } }],
      [{ readOnlyRoot: false }, { readOnlyRoot: false }],
      [{ user: "1:1" }, { user: "1:1" }],
      [{ capabilities: ["CHOWN"] }, { capabilities: ["CHOWN"] }],
      [{ seccomp: { dangerously: "unconfined" } }, { seccomp: { dangerously: "unconfined" } }],
      [{ runtime: "runsc" }, { runtime: "runsc" }],
      [{ env: { A: "1" } }, { env: { A: "1" } }],
      [
        { extraVolumes: { "/a": { bind: "/b" }, "/c": { bind: "/d", mode: "rw" } } },
        {
          mounts: [
            { source: "/a", target: "/b", mode: "ro" },
            { source: "/c", target: "/d", mode: "rw" },
          ],
        },
      ],
      [{ bindDir: "/work" }, { mounts: [{ source: "/work", target: "/workspace", mode: "rw" }] }],
    ]
    for (const [options, expected] of cases) expect(policyOf(options)).toEqual({ ...plain, ...expected })
  })

  it("lets a short form take the place of the policy's field, and adds to its mounts and variables", () => {
    const policy = {
      image: "a:1",
      limits: { memory: "1GiB", pids: 9 },
      mounts: [{ source: "/a", target: "/a" }],
      env: { A: "1", B: "1" },
    }
    for (const given of [policy, new SandboxPolicy(policy)]) {
      const fields = policyOf({
        policy: given,
        image: "b:2",
        memory: "2GiB",
        env: { B: "2" },
        extraVolumes: { "/c": { bind: "/c" } },
      })
      expect(fields).toMatchObject({
        image: "b:2",
        limits: { memory: 2048 * MiB, pids: 9 },
        env: { A: "1", B: "2" },
      })
      expect(fields.mounts.map(({ target }) => target)).toEqual(["/a", "/c"])
    }
  })

  it("leaves a policy as it is when a short form is undefined", () => {
    const policy = new SandboxPolicy({ readOnlyRoot: false, image: "a:1" })
    const options = read({ policy, image: undefined, readOnlyRoot: undefined, timeout: undefined })
    expect(options.policy.sha256).toBe(policy.sha256)
  })

  it("refuses what the policy refuses, in its words", () => {
    expect(refusal({ image: "Not An Image" })).toMatch(/^POLICY_INVALID: .*image/)
    expect(refusal({ timeout: "soon" })).toMatch(/^POLICY_INVALID: .*limits\.wall/)
    expect(refusal({ pids: 0 })).toMatch(/^POLICY_INVALID: .*limits\.pids/)
    expect(refusal({ network: "bridge" })).toMatch(/^POLICY_INVALID: .*network/)
    expect(refusal({ user: "root" })).toMatch(/^POLICY_INVALID: .*user/)
    expect(refusal({ policy: { netwrok: "none" } })).toMatch(/^POLICY_INVALID/)
    for (const policy of ["glovebox.policy.yaml", 5, true, [], () => {}]) {
      expect([policy, refusal({ policy })]).toEqual([
        policy,
        expect.stringMatching(/^(POLICY|OPTION)_INVALID/),
      ])
    }
  })

  it("reads the pool, what is carried, and times and sizes with units", () => {
    expect(read({ pool: false }).pool).toEqual({ size: 0, idleLease: 300_000 })
    expect(read({ pool: { size: 5 } }).pool).toEqual({ size: 5, idleLease: 300_000 })
    expect(read({ pool: { idleLease: "10s" } }).pool).toEqual({ size: 2, idleLease: 10_000 })
    expect(read({ carry: false }).carry).toBeUndefined()
    expect(read({ carry: { maxBytes: "1MiB" } }).carry).toEqual({ maxBytes: MiB, maxFiles: 4096 })
    expect(read({ bindDir: "/work" }).carry).toBeUndefined()
    for (const [options, path] of [
      [{ pool: { size: -1 } }, "pool"],
      [{ pool: { size: 1.5 } }, "pool"],
      [{ pool: { idleLease: "soon" } }, "pool"],
      [{ pool: { idleLease: 0 } }, "pool"],
      [{ carry: { maxBytes: "much" } }, "carry"],
      [{ carry: { maxFiles: 0 } }, "carry"],
      [{ concurrency: 0 }, "concurrency"],
      [{ isolation: "none" }, "isolation"],
      [{ interpreter: "old" }, "interpreter"],
      [{ pull: "sometimes" }, "pull"],
      [{ containerName: "no spaces" }, "containerName"],
      [{ containerName: "-x" }, "containerName"],
      [{ cpuQuota: 0 }, "cpuQuota"],
      [{ cpuPeriod: 0 }, "cpuPeriod"],
      [{ workDir: "" }, "workDir"],
      [{ bindDir: "" }, "bindDir"],
      [{ initCommand: "" }, "initCommand"],
      [{ tls: { insecure: true } }, "tls"],
      [{ extraVolumes: { "/a": { bind: "/b", mode: "x" } } }, "extraVolumes"],
      [{ functions: [() => {}] }, "functions"],
      [{ autoRemove: "yes" }, "autoRemove"],
    ] as const) {
      expect(refusal(options)).toMatch(new RegExp(`^OPTION_INVALID: .*${path}`))
    }
  })

  it("names the option that users of AutoGen and of Docker's clients mean", () => {
    const names: Record<string, string> = {
      container_name: "containerName",
      work_dir: "workDir",
      bind_dir: "bindDir",
      auto_remove: "autoRemove",
      stop_container: "stopContainer",
      device_requests: "deviceRequests",
      functions_module: "functionsModule",
      extra_volumes: "extraVolumes",
      extra_hosts: "extraHosts",
      init_command: "initCommand",
      delete_tmp_files: "deleteTmpFiles",
      network_disabled: "network",
      network_mode: "network",
      mem_limit: "memory",
      pids_limit: "pids",
      read_only: "readOnlyRoot",
      remove: "autoRemove",
      volumes: "extraVolumes",
      cap_add: "capabilities",
      nano_cpus: "cpus",
      environment: "env",
      timout: "timeout",
    }
    for (const [written, meant] of Object.entries(names)) {
      expect(refusal({ [written]: 1 })).toMatch(
        new RegExp(`^OPTION_INVALID: .*${written} is not an option; did you mean ${meant}\\?`),
      )
    }
    expect(refusal({ zzzzzzzz: 1 })).toMatch(/zzzzzzzz is not an option$/)
    expect(refusal(null)).toMatch(/^OPTION_INVALID/)
    expect(refusal("python:3")).toMatch(/^OPTION_INVALID/)
  })

  it("refuses options that contradict each other", () => {
    expect(refusal({ workDir: "/a", bindDir: "/b" })).toMatch(/^OPTION_INVALID: workDir and bindDir/)
    expect(refusal({ extraHosts: { a: "10.0.0.1" } })).toMatch(/^OPTION_INVALID: extraHosts/)
    expect(read({ extraHosts: { a: "10.0.0.1" }, network: { dangerously: "bridge" } }).extraHosts).toEqual({
      a: "10.0.0.1",
    })
    expect(refusal({ functionsModule: "not a module" })).toMatch(/^(FUNCTION|OPTION)_INVALID/)
    expect(refusal({ bindDir: "/a", extraVolumes: { "/b": { bind: "/workspace" } } })).toMatch(
      /^POLICY_INVALID/,
    )
  })

  it("refuses options of which one would silently do nothing", () => {
    expect(refusal({ workDir: "/a", carry: false })).toMatch(/^OPTION_INVALID: .*carry/)
    expect(refusal({ cpus: 1, cpuQuota: 50_000 })).toMatch(/^OPTION_INVALID: .*cpu/)
    expect(refusal({ cpuPeriod: 50_000 })).toMatch(/^OPTION_INVALID: .*cpu/)
  })

  it("adds languages", () => {
    const { languages } = read({ languages: { r: { command: "Rscript" } } })
    expect(languages.lookup("R").command).toEqual(["Rscript"])
    expect(refusal({ languages: { r: {} } })).toMatch(/^OPTION_INVALID: The languages/)
  })
})
