import { randomFillSync } from "node:crypto"
import { ERRNO } from "./errno.mjs"
import { GuestMemory } from "./guest-memory.mjs"
import { wasiFiles } from "./wasi-files.mjs"
import { wasiTime } from "./wasi-time.mjs"

const LONGEST_RANDOM = 65_536

/** Thrown out of the guest's code when it ends itself. */
export class GuestExit extends Error {
  /** @param {number} code */
  constructor(code) {
    super(`exit ${code}`)
    this.code = code
  }
}

/**
 * The functions of WASI (preview 1) for one instance: all that a guest can do beside computing. There are no sockets.
 *
 * @param {{ call: import("./shared-call.mjs").CallingEnd, args: string[], env: Record<string, string>, memory: () => WebAssembly.Memory }} options
 */
export function wasiFunctions({ call, args, env, memory: ofInstance }) {
  const memory = new GuestMemory(ofInstance)
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const write = (texts, table, buffer) => {
    memory.writeTexts(texts, table, buffer)
    return ERRNO.SUCCESS
  }
  const measure = (texts, count, size) => {
    memory.writeU32(count, texts.length)
    memory.writeU32(
      size,
      texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0),
    )
    return ERRNO.SUCCESS
  }
  const functions = {
    ...wasiFiles(call, memory),
    ...wasiTime(memory),
    args_get: (table, buffer) => write(args, table, buffer),
    args_sizes_get: (count, size) => measure(args, count, size),
    environ_get: (table, buffer) => write(variables, table, buffer),
    environ_sizes_get: (count, size) => measure(variables, count, size),
    random_get: (at, length) => {
      const target = memory.bytes(at, length)
      for (let done = 0; done < target.length; done += LONGEST_RANDOM) {
        randomFillSync(target.subarray(done, done + LONGEST_RANDOM))
      }
      return ERRNO.SUCCESS
    },
    proc_exit: (code) => {
      throw new GuestExit(code & 0xff)
    },
    ...Object.fromEntries(
      ["accept", "recv", "send", "shutdown"].map((name) => [`sock_${name}`, () => ERRNO.NOTSUP]),
    ),
  }
  return Object.fromEntries(Object.entries(functions).map(([name, run]) => [name, guarded(run)]))
}

// A place outside the guest's memory: for the guest, a bad address.
function guarded(run) {
  return (...given) => {
    try {
      return run(...given)
    } catch (error) {
      if (error instanceof GuestExit) throw error
      return ERRNO.FAULT
    }
  }
}
