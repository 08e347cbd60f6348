import { describe, expect, it } from "vitest"
import { seccompProfile } from "../sandbox/seccomp-profile.ts"
import { disassemble, verdictOf } from "./bpf-evaluator.test-kit.ts"
import { JUMP_EQUAL, jump } from "./bpf.ts"
import type { ArgumentTest, CallRules } from "./call-rules.ts"
import { readProfile } from "./read-profile.ts"
import { ALLOW, KILL_PROCESS, failWith, filterProgram, seccompFilter } from "./seccomp-filter.ts"
import { type FilterArchitecture, filterArchitecture, isSyscall } from "./syscall-table.ts"

const EPERM = failWith(1)
const ENOSYS = failWith(38)
const x64 = filterArchitecture("x64")!
const arm64 = filterArchitecture("arm64")!

function strict(architecture: FilterArchitecture): (name: string, ...args: bigint[]) => number {
  const program = disassemble(
    seccompFilter(readProfile(seccompProfile(architecture.docker), architecture, "6.1.0"), architecture),
  )
  return (name, ...args) => {
    const number = architecture.numbers.get(name)
    if (number === undefined) throw new Error(`${architecture.name} has no ${name}`)
    return verdictOf(program, { number, architecture: architecture.audit, args })
  }
}

describe.each([x64, arm64])("the strict filter on $name", (architecture) => {
  const judge = strict(architecture)

  it("gives exactly the calls of the profile, and refuses all others", () => {
    const profile = seccompProfile(architecture.docker)!
    const plain = new Set(
      profile.syscalls
        .filter(({ action, args }) => action === "SCMP_ACT_ALLOW" && !args)
        .flatMap((rule) => rule.names),
    )
    const judged = new Set(profile.syscalls.flatMap((rule) => rule.names).filter((name) => !plain.has(name)))
    const others = [...architecture.numbers.keys()].filter((name) => !judged.has(name))
    for (const name of others) expect([name, judge(name)]).toEqual([name, plain.has(name) ? ALLOW : EPERM])
    const program = filterProgram(readProfile(profile, architecture, "6.1.0"), architecture)
    for (const number of [470, 1000, 0x3fff_ffff]) {
      expect(verdictOf(program, { number, architecture: architecture.audit })).toBe(EPERM)
    }
  })

  it("knows the number of every call that the profile names", () => {
    const names = seccompProfile(architecture.docker)!.syscalls.flatMap((rule) => rule.names)
    expect(names.filter((name) => !isSyscall(name))).toEqual([])
  })

  it.each(
    "mount umount2 ptrace bpf keyctl add_key unshare setns pivot_root userfaultfd io_uring_setup".split(" "),
  )("refuses %s", (name) => expect(judge(name)).toBe(EPERM))

  it("answers clone3 as if it were missing, and lets clone make no namespace", () => {
    expect(judge("clone3")).toBe(ENOSYS)
    expect(judge("clone", 0x3d0f00n)).toBe(ALLOW)
    for (const flag of [0x1000_0000n, 0x2_0000n, 0x4000_0000n, 0x2000_0000n]) {
      expect(judge("clone", flag | 17n)).toBe(EPERM)
    }
  })

  it("compares arguments in full, and what the kernel ignores not at all", () => {
    expect([1n, 2n, 10n].map((family) => judge("socket", family, 1n, 0n))).toEqual([ALLOW, ALLOW, ALLOW])
    expect(judge("socket", 16n, 3n, 0n)).toBe(ALLOW)
    expect(judge("socket", 16n, 3n, 9n)).toBe(EPERM)
    expect(judge("socket", 17n, 3n, 0n)).toBe(EPERM)
    expect(judge("socket", 0x1_0000_0001n, 1n, 0n)).toBe(EPERM)
    for (const request of [0x5412n, 0x541cn, 0xffff_ffff_0000_5412n]) {
      expect(judge("ioctl", 0n, request)).toBe(EPERM)
    }
    for (const request of [0x5401n, 0x5413n, 0x8000_5412n]) expect(judge("ioctl", 0n, request)).toBe(ALLOW)
    expect(judge("personality", 0n)).toBe(ALLOW)
    expect(judge("personality", 0x4_0000n)).toBe(EPERM)
  })

  it("ends programs for another processor", () => {
    const program = filterProgram({ calls: [], otherwise: ALLOW }, architecture)
    for (const other of [0x4000_0003, x64.audit, arm64.audit, 0]) {
      const verdict = verdictOf(program, { number: 0, architecture: other })
      expect(verdict).toBe(other === architecture.audit ? ALLOW : KILL_PROCESS)
    }
  })
})

describe("filterProgram", () => {
  it("ends the x32 way of calling, whose numbers no rule names", () => {
    const program = filterProgram({ calls: [], otherwise: ALLOW }, x64)
    const judge = (number: number): number => verdictOf(program, { number, architecture: x64.audit })
    expect([0x3fff_ffff, 0x4000_0000, 0x4000_0208, 0xffff_ffff].map(judge)).toEqual([
      ALLOW,
      KILL_PROCESS,
      KILL_PROCESS,
      KILL_PROCESS,
    ])
  })

  const values = [
    0n,
    1n,
    5n,
    6n,
    0xffff_ffffn,
    0x1_0000_0000n,
    0x1_0000_0005n,
    0x2_0000_0005n,
    2n ** 64n - 1n,
  ]
  const comparisons: Record<ArgumentTest["op"], (value: bigint, limit: bigint) => boolean> = {
    equal: (value, limit) => value === limit,
    "not-equal": (value, limit) => value !== limit,
    greater: (value, limit) => value > limit,
    "at-least": (value, limit) => value >= limit,
    less: (value, limit) => value < limit,
    "at-most": (value, limit) => value <= limit,
  }

  it.each(Object.keys(comparisons) as ArgumentTest["op"][])("compares 64 bits by %s", (op) => {
    for (const limit of values) {
      const rules: CallRules = {
        calls: [
          { name: "read", tests: [{ index: 2, op, value: limit, mask: 2n ** 64n - 1n }], verdict: ALLOW },
        ],
        otherwise: EPERM,
      }
      const program = filterProgram(rules, x64)
      for (const value of values) {
        const verdict = verdictOf(program, { number: 0, architecture: x64.audit, args: [0n, 0n, value] })
        expect([value, verdict]).toEqual([value, comparisons[op](value, limit) ? ALLOW : EPERM])
      }
    }
  })

  it("asks for all tests of a rule, and takes the first rule that holds", () => {
    const test = (index: number, value: bigint): ArgumentTest => ({
      index,
      op: "equal",
      value,
      mask: 2n ** 64n - 1n,
    })
    const program = filterProgram(
      {
        calls: [
          { name: "read", tests: [test(0, 1n), test(1, 2n)], verdict: ALLOW },
          { name: "read", tests: [test(0, 1n), test(1, 3n)], verdict: ENOSYS },
        ],
        otherwise: EPERM,
      },
      x64,
    )
    const judge = (...args: bigint[]): number =>
      verdictOf(program, { number: 0, architecture: x64.audit, args })
    expect([judge(1n, 2n), judge(1n, 3n), judge(1n, 4n), judge(0n, 2n)]).toEqual([
      ALLOW,
      ENOSYS,
      EPERM,
      EPERM,
    ])
  })

  it("makes no jump that the kernel cannot make", () => {
    expect(() => jump(JUMP_EQUAL, 0, 256, 0)).toThrow(RangeError)
  })
})
