import { ERRNO } from "./errno.mjs"

const MOST_POLLED = 1024
const LONGEST_SLEEP_MS = 3_600_000

/**
 * The functions of WASI that tell the time or let it pass.
 *
 * @param {import("./guest-memory.mjs").GuestMemory} memory
 */
export function wasiTime(memory) {
  const begun = process.hrtime.bigint()
  const sleeping = new Int32Array(new SharedArrayBuffer(4))

  const clock = (id) => {
    if (id === 0) return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n
    return id === 1 ? process.hrtime.bigint() : process.hrtime.bigint() - begun
  }
  const sleep = (nanoseconds) => {
    for (let left = Number(nanoseconds) / 1e6; left > 0; left -= LONGEST_SLEEP_MS) {
      Atomics.wait(sleeping, 0, 0, Math.min(left, LONGEST_SLEEP_MS))
    }
  }
  // What is asked for beside time is always ready.
  const subscription = (at) => {
    const tag = memory.readU8(at + 8)
    if (tag !== 0) return { at, tag, wait: 0n }
    const timeout = memory.readU64(at + 24)
    const isAbsolute = (memory.readU16(at + 40) & 1) !== 0
    const now = isAbsolute ? clock(memory.readU32(at + 16)) : 0n
    return { at, tag, wait: timeout > now ? timeout - now : 0n }
  }

  return {
    clock_res_get: (_id, at) => {
      memory.writeU64(at, 1000n)
      return ERRNO.SUCCESS
    },
    clock_time_get: (id, _precision, at) => {
      memory.writeU64(at, clock(id))
      return ERRNO.SUCCESS
    },
    sched_yield: () => ERRNO.SUCCESS,
    poll_oneoff: (from, to, count, result) => {
      if (count < 1 || count > MOST_POLLED) return ERRNO.INVAL
      const asked = Array.from({ length: count }, (_, index) => subscription((from >>> 0) + index * 48))
      const shortest = asked.reduce((least, { wait }) => (wait < least ? wait : least), asked[0].wait)
      sleep(shortest)
      const ready = asked.filter(({ wait }) => wait <= shortest)
      for (const [index, { at, tag }] of ready.entries()) {
        const event = (to >>> 0) + index * 32
        memory.bytes(event, 32).fill(0)
        memory.writeU64(event, memory.readU64(at))
        memory.writeU8(event + 10, tag)
        if (tag !== 0) memory.writeU64(event + 16, 1n)
      }
      memory.writeU32(result, ready.length)
      return ERRNO.SUCCESS
    },
  }
}
