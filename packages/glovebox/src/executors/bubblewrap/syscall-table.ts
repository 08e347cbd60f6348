import { ARM64_SYSCALLS } from "./syscalls-arm64.ts"
import { X64_SYSCALLS } from "./syscalls-x64.ts"

/** A processor for which filters can be written. */
export interface FilterArchitecture {
  /** As Node names it. */
  readonly name: "x64" | "arm64"
  /** As profiles name it. */
  readonly scmp: string
  /** As lists of processors in Docker's profiles name it. */
  readonly docker: string
  /** The kernel's own number (AUDIT_ARCH_...). */
  readonly audit: number
  readonly numbers: ReadonlyMap<string, number>
}

const architectures: readonly FilterArchitecture[] = [
  {
    name: "x64",
    scmp: "SCMP_ARCH_X86_64",
    docker: "amd64",
    audit: 0xc000_003e,
    numbers: numbersOf(X64_SYSCALLS),
  },
  {
    name: "arm64",
    scmp: "SCMP_ARCH_AARCH64",
    docker: "arm64",
    audit: 0xc000_00b7,
    numbers: numbersOf(ARM64_SYSCALLS),
  },
]

/** Undefined where the numbers of calls are not written down. */
export function filterArchitecture(name: string): FilterArchitecture | undefined {
  return architectures.find((one) => one.name === name)
}

/** Whether any processor has a call of this name. */
export function isSyscall(name: string): boolean {
  return architectures.some(({ numbers }) => numbers.has(name))
}

function numbersOf(text: string): Map<string, number> {
  const numbers = new Map<string, number>()
  let next = 0
  for (const word of text.trim().split(/\s+/)) {
    if (/^\d+$/.test(word)) {
      next = Number(word)
      continue
    }
    numbers.set(word, next)
    next += 1
  }
  return numbers
}
