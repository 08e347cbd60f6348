import { AND, type Instruction, JUMP_AT_LEAST, JUMP_EQUAL, JUMP_GREATER, LOAD, RETURN } from "./bpf.ts"

/** A call as the kernel shows it to a filter. */
export interface Call {
  readonly number: number
  readonly architecture: number
  readonly args?: readonly bigint[]
}

/** What the kernel would do with the call: a small interpreter of the instructions that filters use. */
export function verdictOf(program: readonly Instruction[], call: Call): number {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(call.number >>> 0, 0)
  data.writeUInt32LE(call.architecture, 4)
  for (const [index, value] of (call.args ?? []).entries()) data.writeBigUInt64LE(value, 16 + 8 * index)
  let accumulator = 0
  for (let at = 0; at < program.length; at += 1) {
    const { code, k, jt, jf } = program[at]!
    if (code === RETURN) return k >>> 0
    else if (code === LOAD) accumulator = data.readUInt32LE(k)
    else if (code === AND) accumulator = (accumulator & k) >>> 0
    else at += holds(code, accumulator, k >>> 0) ? jt : jf
  }
  throw new Error("the program has no end")
}

function holds(code: number, accumulator: number, k: number): boolean {
  if (code === JUMP_EQUAL) return accumulator === k
  if (code === JUMP_GREATER) return accumulator > k
  if (code === JUMP_AT_LEAST) return accumulator >= k
  throw new Error(`no such instruction: ${code}`)
}

/** The instructions in a program's bytes. */
export function disassemble(bytes: Buffer): Instruction[] {
  return Array.from({ length: bytes.length / 8 }, (_, index) => ({
    code: bytes.readUInt16LE(index * 8),
    jt: bytes.readUInt8(index * 8 + 2),
    jf: bytes.readUInt8(index * 8 + 3),
    k: bytes.readUInt32LE(index * 8 + 4),
  }))
}
