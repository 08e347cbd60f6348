import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { SandboxPolicy, type PolicyInput } from "../../policy/index.ts"
import { type LimitMeans, type LimitPlan, planLimits } from "./limit-plan.ts"

const ALL: LimitMeans = {
  controllers: ["memory", "pids", "cpu"],
  canMount: true,
  tmpfsFiles: 1_000_000,
  hasTaskset: true,
  processors: [0, 1, 2, 3],
  kernel: "6.1.0-18-amd64",
}

function plan(means: Partial<LimitMeans> = {}, limits: PolicyInput["limits"] = {}): LimitPlan {
  return planLimits(new SandboxPolicy({ limits }).fields, { ...ALL, ...means })
}

describe("planLimits", () => {
  it("keeps all limits by cgroups and a tmpfs where it can, and has nothing to add", () => {
    expect(plan()).toEqual({ memory: "cgroup", pids: "cgroup", cpus: "cgroup", files: "tmpfs", indirect: [] })
  })

  it("keeps them by processes otherwise, and says what that means", () => {
    const { indirect, ...kept } = plan({ controllers: [] })
    expect(kept).toEqual({ memory: "rlimit", pids: "rlimit", cpus: "affinity", files: "tmpfs" })
    expect(indirect.join("\n")).toMatch(/limits.memory: bounds each process.*limits.cpus: .*processors/s)
  })

  it("takes what there is of each", () => {
    expect(plan({ controllers: ["memory", "pids"] })).toMatchObject({ memory: "cgroup", cpus: "affinity" })
    expect(plan({ controllers: ["cpu"] })).toMatchObject({ memory: "rlimit", cpus: "cgroup" })
  })

  it("bounds files by memory alone where no tmpfs can be mounted, and says so", () => {
    const { files, indirect } = plan({ canMount: false })
    expect([files, indirect]).toEqual(["memory", [expect.stringMatching(/^limits.files: .*limits.memory/)]])
  })

  it("keeps no limit that allows all there is", () => {
    expect(plan({ controllers: [], hasTaskset: false }, { cpus: 4 }).cpus).toBe("all")
    expect(plan({ controllers: [], canMount: false }, { files: 1_000_000 }).files).toBe("all")
  })

  it.each<[string, Partial<LimitMeans>, PolicyInput["limits"], RegExp]>([
    ["processors, without taskset", { hasTaskset: false }, {}, /limits\.cpus .*taskset.*limits\.cpus: 4/],
    ["parts of processors", {}, { cpus: 1.5 }, /limits\.cpus .*whole processors.*limits\.cpus: 2/],
    ["files, without mounts", { canMount: false }, {}, /limits\.files .*limits\.files: 1000000/],
    ["processes, on an old kernel", { kernel: "5.10.0-28" }, {}, /limits\.pids .*5\.10.*cgroup/],
  ])("refuses, without a cgroup: %s", (_, means, limits, message) => {
    const failure = failureOf(() => plan({ controllers: [], ...means }, limits))
    expect(failure).toMatch(/^SANDBOX_UNENFORCEABLE: /)
    expect(failure).toMatch(message)
  })
})
