import { readCount } from "../read-count.ts"

const MB = 1_000_000

/** How often each is measured. */
export const ROUNDS = readCount("GLOVEBOX_BENCH_ROUNDS", 5)
/** How much one transfer moves. */
export const TRANSFER_BYTES = readCount("GLOVEBOX_BENCH_TRANSFER_MB", 100) * MB
/** How many small requests there are in a round. */
export const REQUESTS = 200
/** How many downloads run at once, and of how much. */
export const DOWNLOADS = readCount("GLOVEBOX_BENCH_DOWNLOADS", 100)
export const DOWNLOAD_BYTES = 10 * MB
