import { readCount } from "../read-count.ts"

/** How often each latency is measured. */
export const ROUNDS = readCount("GLOVEBOX_BENCH_ROUNDS", 10)
