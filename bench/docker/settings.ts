import { readCount } from "../read-count.ts"

export const IMAGE = process.env["GLOVEBOX_BENCH_IMAGE"] || "glovebox/sandbox:py3"
/** How often each latency is measured. */
export const ROUNDS = readCount("GLOVEBOX_BENCH_ROUNDS", 12)
/** How long each sustained load lasts, after its warm-up. */
export const LOAD_SECONDS = readCount("GLOVEBOX_BENCH_SECONDS", 8)
