import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { type PolicyInput, SandboxPolicy } from "../../policy/index.ts"
import { type ChosenRuntime, chooseRuntime, isGvisor } from "./choose-runtime.ts"
import type { EngineInfo } from "./engine-info.ts"

const runtime = (...args: string[]): { path: string; args: string[] } => ({ path: "/usr/bin/x", args })

function engine(runtimes: EngineInfo["runtimes"], more: Partial<EngineInfo> = {}): EngineInfo {
  return {
    version: "28.0.0",
    name: "vm",
    operatingSystem: "Debian",
    architecture: "x86_64",
    kernel: "6.1.0",
    cgroupVersion: "2",
    defaultRuntime: "runc",
    runtimes: { runc: runtime(), ...runtimes },
    isPodman: false,
    ...more,
  }
}

function choose(policy: PolicyInput, info: EngineInfo): ChosenRuntime {
  return chooseRuntime(new SandboxPolicy(policy).fields, info)
}

describe("chooseRuntime", () => {
  it("takes the engine's default where there is no gVisor, and says why", () => {
    expect(choose({}, engine({}))).toEqual({
      name: "runc",
      isolation: "container",
      because: "the engine has no gVisor",
    })
    expect(choose({}, engine({}, { defaultRuntime: "crun" })).name).toBe("crun")
    expect(choose({}, engine({}, { defaultRuntime: "" })).name).toBe("runc")
  })

  it("takes gVisor where the engine has it", () => {
    expect(choose({}, engine({ runsc: runtime() }))).toEqual({
      name: "runsc",
      isolation: "userspace-kernel",
      because: "the engine has gVisor",
    })
    expect(choose({}, engine({ "io.containerd.runsc.v1": runtime() })).isolation).toBe("userspace-kernel")
  })

  it("leaves gVisor alone when it ignores cgroups, and refuses it by name", () => {
    for (const arg of ["--ignore-cgroups", "-ignore-cgroups", "--ignore-cgroups=true"]) {
      const info = engine({ runsc: runtime("--platform=systrap", arg) })
      expect(choose({}, info)).toMatchObject({
        name: "runc",
        because: expect.stringContaining("ignore cgroups"),
      })
      expect(failureOf(() => choose({ runtime: "runsc" }, info))).toMatch(/^SANDBOX_UNENFORCEABLE: .*ignore/)
    }
    const counts = engine({ runsc: runtime("--ignore-cgroups=false") })
    expect(choose({}, counts).name).toBe("runsc")
  })

  it("takes the one that is named, or refuses and lists those there are", () => {
    const info = engine({ kata: runtime(), runsc: runtime() })
    expect(choose({ runtime: "runc" }, info)).toEqual({ name: "runc", isolation: "container" })
    expect(choose({ runtime: "kata" }, info)).toMatchObject({ name: "kata" })
    expect(choose({ runtime: "runsc" }, info)).toMatchObject({ isolation: "userspace-kernel" })
    expect(failureOf(() => choose({ runtime: "crun" }, info))).toMatch(
      /^SANDBOX_UNENFORCEABLE: .*no runtime crun; it has runc, kata, runsc/,
    )
    expect(failureOf(() => choose({ runtime: "constructor" }, info))).toMatch(/^SANDBOX_UNENFORCEABLE/)
  })

  it("believes Podman, which lists only what it uses", () => {
    expect(choose({ runtime: "crun" }, engine({}, { isPodman: true })).name).toBe("crun")
  })

  it("refuses a boundary weaker than the policy requires", () => {
    const plain = engine({})
    const gvisor = engine({ runsc: runtime() })
    expect(choose({ isolation: "container" }, plain).name).toBe("runc")
    expect(choose({ isolation: "wasm" }, plain).name).toBe("runc")
    expect(choose({ isolation: "userspace-kernel" }, gvisor).name).toBe("runsc")
    for (const [isolation, info] of [
      ["userspace-kernel", plain],
      ["vm", plain],
      ["vm", gvisor],
      ["userspace-kernel", engine({ runsc: runtime("--ignore-cgroups") })],
    ] as const) {
      expect(failureOf(() => choose({ isolation }, info))).toMatch(
        new RegExp(`^SANDBOX_UNENFORCEABLE: .*requires the isolation "${isolation}"`),
      )
    }
    expect(failureOf(() => choose({ isolation: "userspace-kernel", runtime: "runc" }, gvisor))).toMatch(
      /runc gives "container"/,
    )
  })
})

describe("isGvisor", () => {
  it("knows its names, and no others", () => {
    const names = ["runsc", "io.containerd.runsc.v1", "runsc-kvm", "runc", "crun", "my-runsc", "kata", ""]
    expect(names.map(isGvisor)).toEqual([true, true, true, false, false, false, false, false])
  })
})
