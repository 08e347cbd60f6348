import { describe, expect, it } from "vitest"
import { SandboxPolicy, type PolicyInput } from "../../policy/index.ts"
import { type ProcessPlanInput, planProcess } from "./plan-process.ts"
import type { ProcessPlan } from "./sandbox-process.ts"

const CGROUPS = { memory: "cgroup", pids: "cgroup", cpus: "cgroup", files: "tmpfs", indirect: [] } as const

function plan(input: Partial<ProcessPlanInput> = {}, policy: PolicyInput = {}): ProcessPlan {
  return planProcess({
    machine: {
      bwrap: { path: "/usr/bin/bwrap", version: "0.8.0" },
      mountBase: "/mnt",
      identity: { uid: 65_532, gid: 65_532 },
      hidden: [],
      means: {
        controllers: [],
        canMount: true,
        tmpfsFiles: 1000,
        hasTaskset: true,
        processors: [0, 1, 2, 3],
        kernel: "6.1.0",
      },
    },
    policy: new SandboxPolicy(policy).fields,
    plan: CGROUPS,
    filters: [Buffer.from("filter")],
    tree: [],
    files: [{ path: "/etc/passwd", content: "sandbox" }],
    cgroup: [],
    env: {},
    agent: ["python3", "-c", "agent"],
    turn: 3,
    ...input,
  })
}

const words = ({ data }: ProcessPlan): string[] => data[0]!.toString("utf8").split("\0")

describe("planProcess", () => {
  it("waits at the gate, mounts in a namespace of its own, and ends up as bwrap", () => {
    const { command } = plan()
    expect(command.slice(0, 7)).toEqual(["unshare", "--user", "--map-root-user", "--mount", "--", "sh", "-c"])
    expect(command[7]).toBe(`IFS= read -r go <&3 || exit 125
exec 3<&-
ulimit -c 0
ulimit -S -n 1024 2>/dev/null
ulimit -H -n 4096 2>/dev/null
mount -t tmpfs -o size=64k,nr_inodes=16,mode=0755,nosuid,nodev glovebox /mnt || exit 125
mkdir /mnt/w /mnt/t /mnt/s || exit 125
mount -t tmpfs -o size=268435456,nr_inodes=65536,mode=0700,nosuid,nodev glovebox /mnt/w || exit 125
mount -t tmpfs -o size=67108864,nr_inodes=16384,mode=0700,nosuid,nodev glovebox /mnt/t || exit 125
mount -t tmpfs -o size=67108864,nr_inodes=16384,mode=0700,nosuid,nodev glovebox /mnt/s || exit 125
exec "$@"`)
    expect(command.slice(8)).toEqual(["sh", "/usr/bin/bwrap", "--args", "5", "--", "python3", "-c", "agent"])
  })

  it("gives each stream what its number says", () => {
    const process = plan()
    expect(process.data.slice(1).map(String)).toEqual(["filter", "sandbox"])
    const args = words(process).join(" ")
    expect(args).toContain("--add-seccomp-fd 6")
    expect(args).toContain("--file 7 /etc/passwd")
  })

  it("shows the values of variables in no command line", () => {
    const process = plan({}, { env: { TOKEN: "a secret" } })
    expect(process.command.join(" ")).not.toContain("a secret")
    expect(words(process)).toContain("a secret")
  })

  it("sets limits of processes where there is no cgroup, that of their number inside alone", () => {
    const { command } = plan({
      plan: { memory: "rlimit", pids: "rlimit", cpus: "affinity", files: "memory", indirect: [] },
    })
    expect(command.slice(0, 4)).toEqual(["taskset", "-c", "3", "sh"])
    expect(command[5]).toContain("ulimit -v 524288 || exit 125")
    expect(command[5]).not.toMatch(/ulimit -u|mount/)
    expect(command.slice(-6)).toEqual([
      "-c",
      'ulimit -u 128 2>/dev/null || ulimit -p 128 || exit 125\nexec "$@"',
      "sh",
      "python3",
      "-c",
      "agent",
    ])
  })

  it("gives sandboxes processors in turn", () => {
    const affinity = { ...CGROUPS, cpus: "affinity" } as const
    const turns = [0, 1, 3].map((turn) => plan({ plan: affinity, turn }, { limits: { cpus: 2 } }).command[2])
    expect(turns).toEqual(["0,1", "1,2", "3,0"])
  })
})
