/** One instruction of a classic BPF program, as the kernel takes it for seccomp. */
export interface Instruction {
  readonly code: number
  readonly k: number
  /** Instructions to skip when a comparison holds, and when not. */
  readonly jt: number
  readonly jf: number
}

export const LOAD = 0x20
export const RETURN = 0x06
export const AND = 0x54
export const JUMP_EQUAL = 0x15
export const JUMP_GREATER = 0x25
export const JUMP_AT_LEAST = 0x35

const LONGEST_JUMP = 255

/** Loads a word of what the kernel tells of the call. */
export function load(offset: number): Instruction {
  return { code: LOAD, k: offset, jt: 0, jf: 0 }
}

export function and(mask: number): Instruction {
  return { code: AND, k: mask, jt: 0, jf: 0 }
}

/** Ends with a verdict. */
export function give(verdict: number): Instruction {
  return { code: RETURN, k: verdict, jt: 0, jf: 0 }
}

export function jump(
  code: typeof JUMP_EQUAL | typeof JUMP_GREATER | typeof JUMP_AT_LEAST,
  k: number,
  jt: number,
  jf: number,
): Instruction {
  if (jt > LONGEST_JUMP || jf > LONGEST_JUMP) throw new RangeError("a jump of BPF is at most 255 long")
  return { code, k, jt, jf }
}

/** The program in the kernel's layout (struct sock_filter), little endian. */
export function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [index, { code, jt, jf, k }] of program.entries()) {
    const at = index * 8
    bytes.writeUInt16LE(code, at)
    bytes.writeUInt8(jt, at + 2)
    bytes.writeUInt8(jf, at + 3)
    bytes.writeUInt32LE(k >>> 0, at + 4)
  }
  return bytes
}
