import { BenchError } from "../bench-error.ts"

export const IMAGE = process.env["GLOVEBOX_BENCH_IMAGE"] || "glovebox/sandbox:py3"
/** How often each latency is measured. */
export const ROUNDS = readCount("GLOVEBOX_BENCH_ROUNDS", 12)
/** How long each sustained load lasts, after its warm-up. */
export const LOAD_SECONDS = readCount("GLOVEBOX_BENCH_SECONDS", 8)

function readCount(name: string, otherwise: number): number {
  const text = process.env[name]
  if (text === undefined || text === "") return otherwise
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new BenchError(`${name} must be a whole number from 1.`)
  return count
}
