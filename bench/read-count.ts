import { BenchError } from "./bench-error.ts"

/** A whole number from the environment. */
export function readCount(name: string, otherwise: number): number {
  const text = process.env[name]
  if (text === undefined || text === "") return otherwise
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new BenchError(`${name} must be a whole number from 1.`)
  return count
}
