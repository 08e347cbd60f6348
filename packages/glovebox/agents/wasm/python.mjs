import { readFileSync } from "node:fs"
import { GuestExit, wasiFunctions } from "./wasi.mjs"

// What programs import most; each start pays for it once, in the background.
const PRELOAD = "json re random math datetime collections itertools functools string time".split(" ")

const DRIVER = new URL("python-driver.py", import.meta.url)

/** Starts the interpreter, which then asks for its work; gives the exit code. */
export function runPython({ module, env, isWarm, library, call }) {
  // For a program that waits already there is nothing to be gained.
  const constants = `PRELOAD = ${JSON.stringify(isWarm ? PRELOAD : [])}\nLIBRARY = ${JSON.stringify(library)}\n`
  const source = constants + readFileSync(DRIVER, "utf8")
  let instance
  const imports = wasiFunctions({
    call,
    args: ["python3", "-S", "-c", source],
    env,
    memory: () => instance.exports.memory,
  })
  instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: imports })
  try {
    instance.exports._start()
    return { code: 0, bytes: instance.exports.memory.buffer.byteLength }
  } catch (error) {
    const bytes = instance.exports.memory.buffer.byteLength
    if (error instanceof GuestExit) return { code: error.code, bytes }
    return { crash: String(error), isOverflow: error instanceof RangeError, bytes }
  }
}
