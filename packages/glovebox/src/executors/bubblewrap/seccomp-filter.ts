import {
  type Instruction,
  JUMP_AT_LEAST,
  JUMP_EQUAL,
  JUMP_GREATER,
  and,
  assemble,
  give,
  jump,
  load,
} from "./bpf.ts"
import type { ArgumentTest, CallRule, CallRules } from "./call-rules.ts"
import type { FilterArchitecture } from "./syscall-table.ts"

export const ALLOW = 0x7fff_0000
export const KILL_PROCESS = 0x8000_0000
const ERRNO = 0x0005_0000

const NUMBER_AT = 0
const ARCHITECTURE_AT = 4
const ARGUMENTS_AT = 16
const X32_BIT = 0x4000_0000
/** What the kernel takes. */
const MOST_INSTRUCTIONS = 4096

/** The verdict by which a call fails with this error. */
export function failWith(errno: number): number {
  return ERRNO | errno
}

/** The filter as bytes, for `--add-seccomp-fd`. */
export function seccompFilter(rules: CallRules, architecture: FilterArchitecture): Buffer {
  const program = filterProgram(rules, architecture)
  if (program.length > MOST_INSTRUCTIONS) throw new RangeError("the filter is longer than the kernel takes")
  return assemble(program)
}

/** Calls of other processors, and of the x32 way of calling, are ended; the others are judged by the rules. */
export function filterProgram(rules: CallRules, architecture: FilterArchitecture): Instruction[] {
  const { plain, judged } = divide(rules, architecture)
  return [
    load(ARCHITECTURE_AT),
    jump(JUMP_EQUAL, architecture.audit, 1, 0),
    give(KILL_PROCESS),
    load(NUMBER_AT),
    ...(architecture.name === "x64" ? [jump(JUMP_AT_LEAST, X32_BIT, 0, 1), give(KILL_PROCESS)] : []),
    ...plain.flatMap(({ from, to, verdict }) => [
      jump(JUMP_AT_LEAST, from, 0, 2),
      jump(JUMP_GREATER, to, 1, 0),
      give(verdict),
    ]),
    ...judged.flatMap(({ number, rules: list }) => judgement(number, list, rules.otherwise)),
    give(rules.otherwise),
  ]
}

interface PlainRange {
  readonly from: number
  to: number
  readonly verdict: number
}

interface Judged {
  readonly number: number
  readonly rules: CallRule[]
}

// Calls that are judged by their number alone are taken together where their numbers are neighbours.
function divide(
  { calls }: CallRules,
  { numbers }: FilterArchitecture,
): { plain: PlainRange[]; judged: Judged[] } {
  const byNumber = new Map<number, CallRule[]>()
  for (const rule of calls) {
    const number = numbers.get(rule.name)
    if (number !== undefined) byNumber.set(number, [...(byNumber.get(number) ?? []), rule])
  }
  const plain: PlainRange[] = []
  const judged: Judged[] = []
  for (const [number, list] of [...byNumber].toSorted(([a], [b]) => a - b)) {
    const unconditional = list.find(({ tests }) => tests.length === 0)
    if (!unconditional) judged.push({ number, rules: list })
    else {
      const last = plain.at(-1)
      if (last && last.to === number - 1 && last.verdict === unconditional.verdict) last.to = number
      else plain.push({ from: number, to: number, verdict: unconditional.verdict })
    }
  }
  return { plain, judged }
}

// The first rule whose tests all hold decides; the number is no longer loaded after it, so it must end here.
function judgement(number: number, rules: readonly CallRule[], otherwise: number): Instruction[] {
  const body = [...rules.flatMap((rule) => [...testsOf(rule.tests), give(rule.verdict)]), give(otherwise)]
  if (body.length > 250) throw new RangeError("too many conditions for one call")
  return [jump(JUMP_EQUAL, number, 0, body.length), ...body]
}

// Each test goes on when it holds, else to behind the verdict that follows the last of them.
function testsOf(tests: readonly ArgumentTest[]): Instruction[] {
  let code: Instruction[] = []
  for (const test of tests.toReversed()) code = [...testOf(test, code.length + 1), ...code]
  return code
}

interface Halves {
  readonly low: number
  readonly high: number
}

const WHOLE = 0xffff_ffff

function halvesOf(value: bigint): Halves {
  return { low: Number(value & 0xffff_ffffn), high: Number(value >> 32n) }
}

// A filter sees 32 bits at a time, the upper half of an argument behind the lower.
function testOf({ index, op, value: whole, mask }: ArgumentTest, toNext: number): Instruction[] {
  const low = ARGUMENTS_AT + 8 * index
  const high = low + 4
  const value = halvesOf(whole)
  if (op === "equal") {
    const masks = halvesOf(mask)
    const lower = equalHalf(low, masks.low, value.low, toNext)
    return [...equalHalf(high, masks.high, value.high, toNext + lower.length), ...lower]
  }
  if (op === "not-equal") {
    return [load(high), jump(JUMP_EQUAL, value.high, 0, 2), load(low), jump(JUMP_EQUAL, value.low, toNext, 0)]
  }
  if (op === "greater" || op === "at-least") {
    return [
      load(high),
      jump(JUMP_GREATER, value.high, 3, 0),
      jump(JUMP_EQUAL, value.high, 0, toNext + 2),
      load(low),
      jump(op === "greater" ? JUMP_GREATER : JUMP_AT_LEAST, value.low, 0, toNext),
    ]
  }
  return [
    load(high),
    jump(JUMP_GREATER, value.high, toNext + 3, 0),
    jump(JUMP_EQUAL, value.high, 0, 2),
    load(low),
    jump(op === "less" ? JUMP_AT_LEAST : JUMP_GREATER, value.low, toNext, 0),
  ]
}

function equalHalf(at: number, mask: number, value: number, toNext: number): Instruction[] {
  if (mask === 0 && value === 0) return []
  return [load(at), ...(mask === WHOLE ? [] : [and(mask)]), jump(JUMP_EQUAL, value, 0, toNext)]
}
