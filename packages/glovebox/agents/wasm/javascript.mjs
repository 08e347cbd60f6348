import { randomFillSync } from "node:crypto"
import { pathToFileURL } from "node:url"
import { GuestFileError, GuestFiles } from "./guest-files.mjs"
import { javaScriptHost, plain, writeText } from "./javascript-host.mjs"
import { fileSystem } from "./javascript-fs.mjs"
import { inspector } from "./javascript-inspect.mjs"
import { JavaScriptModules } from "./javascript-modules.mjs"
import { prelude } from "./javascript-prelude.mjs"

// Of the stack that the engine counts; the thread's own is larger.
const STACK_BYTES = 256 * 1024
const HEADROOM_BYTES = 4 * 1024 ** 2
const BADF = 8
// As Node's, for a program that awaits what never comes.
const UNSETTLED = 13
// Of what a program that has ended left to do.
const MOST_LEFT = 10_000
const MAY_BE_MODULE = /\b(?:import|export)\b/
const LONGEST_SAID = 64 * 1024

/** QuickJS, with what programs expect around the language. */
export class JavaScript {
  #vm
  #flags
  #call
  #modules
  #parts
  #settled
  #settlement
  #exit
  #trap
  #unhandled = 0
  #reason = ""

  /** @param {{ module: WebAssembly.Module, quickjs: string, stripTypes: (source: string) => string, maxBytes: number, env: Record<string, string>, call: import("./shared-call.mjs").CallingEnd }} options */
  static async start({ module, quickjs, stripTypes, maxBytes, env, call }) {
    const { QuickJS, EvalFlags } = await import(pathToFileURL(quickjs).href)
    const made = new JavaScript()
    const files = new GuestFiles(call)
    made.#call = call
    made.#flags = EvalFlags
    made.#modules = new JavaScriptModules(files, stripTypes)
    let isSeeding = true
    const vm = await QuickJS.create({
      wasm: module,
      memoryLimit: maxBytes - HEADROOM_BYTES,
      maxStackSize: STACK_BYTES,
      timezoneOffset: 0,
      interruptHandler: () => made.#isEnded,
      onUnhandledRejection: (_promise, reason, isHandled) => made.#onRejection(reason, isHandled),
      moduleLoader: {
        normalize: (base, name) => plainly(() => made.#modules.normalize(base, name)),
        load: (name) => plainly(() => made.#modules.load(name)),
      },
      wasi: (memory) => ({
        clock_time_get: (_id, _precision, at) => {
          // The engine seeds its random numbers with the time of its start.
          const time = isSeeding ? randomFillSync(new BigUint64Array(1))[0] : nanoseconds()
          new DataView(memory.buffer).setBigUint64(at, time, true)
          return 0
        },
        // What the engine itself has to say goes nowhere.
        fd_write: () => BADF,
      }),
    })
    isSeeding = false
    made.#vm = vm
    const host = javaScriptHost({
      vm,
      call,
      files,
      env,
      sourceOf: (path) => made.#modules.source(path),
      isEnded: () => made.#isEnded,
      onExit: (code) => (made.#exit = code),
      onTrap: (error) => (made.#trap = error),
    })
    const [begin, inspect, fs] = [prelude, inspector, fileSystem].map((part) =>
      vm.evalCode(`(${part.toString()})`, "<prelude>"),
    )
    const parts = vm.callFunction(begin, vm.undefined, host, inspect, fs)
    const names = ["begin", "watch", "nextTimer", "exitCode", "inspect"]
    made.#parts = Object.fromEntries(names.map((name) => [name, parts.getProp(name)]))
    made.#settled = vm.newFunction("settled", (message, ranOutOfMemory) => {
      made.#settlement = { message: message.toString(), ranOutOfMemory: vm.dump(ranOutOfMemory) === true }
      return vm.undefined
    })
    return made
  }

  /** Runs one file. What it throws is no error of the program: the engine is then not to be used again. */
  run(file) {
    this.#exit = undefined
    this.#unhandled = 0
    this.#ask("begin", (each) => each, this.#vm.newString(file))
    const end = this.#ended(file)
    if (this.#trap) throw this.#trap
    this.#drain()
    return end
  }

  get #isEnded() {
    return this.#exit !== undefined || this.#trap !== undefined
  }

  #ended(file) {
    try {
      return this.#evaluate(file)
    } catch (error) {
      if (this.#exit !== undefined) return { code: this.#exit, ranOutOfMemory: false }
      if (error instanceof RangeError || error instanceof WebAssembly.RuntimeError) throw error
      if (error instanceof GuestFileError) return this.#failed(`Cannot read ${file}: ${error.message}\n`)
      error.handle?.dispose()
      return this.#failed(
        `Uncaught ${error.name}: ${error.message}\n${error.stack ?? ""}\n`,
        1,
        isLackOfMemory(error),
      )
    }
  }

  #evaluate(file) {
    const source = this.#modules.source(file)
    const { TYPE_MODULE, ASYNC } = this.#flags
    this.#settlement = undefined
    const promise = this.#vm.evalCode(source, file, this.#isModule(source, file) ? TYPE_MODULE : ASYNC)
    this.#ask("watch", () => {}, promise, this.#settled.dup())
    do this.#vm.executePendingJobs()
    while (this.#exit === undefined && this.#ask("nextTimer", (each) => this.#vm.dump(each) === true))
    if (this.#exit !== undefined) return { code: this.#exit, ranOutOfMemory: false }
    if (this.#settlement === undefined) {
      return this.#failed("Uncaught: the program awaits what never comes.\n", UNSETTLED)
    }
    const { message, ranOutOfMemory } = this.#settlement
    if (message !== "") return this.#failed(message, 1, ranOutOfMemory)
    if (this.#unhandled > 0) return this.#failed(`Uncaught (in promise) ${this.#reason}\n`)
    return { code: this.#ask("exitCode", (each) => each.toNumber()), ranOutOfMemory: false }
  }

  // Only the engine can tell text in a program from the program: what is no script is taken for a module.
  #isModule(source, file) {
    if (!MAY_BE_MODULE.test(source)) return false
    const { ASYNC, COMPILE_ONLY } = this.#flags
    try {
      this.#vm.evalCode(source, file, ASYNC | COMPILE_ONLY).dispose()
      return false
    } catch (error) {
      if (error instanceof RangeError || error instanceof WebAssembly.RuntimeError) throw error
      error.handle?.dispose()
      return true
    }
  }

  // What the program left to do is not the next one's: it runs against a host that does nothing any more.
  #drain() {
    this.#exit ??= 0
    const engine = this.#vm._getExports()
    for (let count = 0; engine.qjs_is_job_pending() !== 0; count += 1) {
      if (count > MOST_LEFT) throw new Error("The program left too much to do.")
      if (engine.qjs_execute_pending_job() < 0) this.#vm.getException().dispose()
    }
  }

  #ask(part, use, ...given) {
    const answer = this.#vm.callFunction(this.#parts[part], this.#vm.undefined, ...given)
    try {
      return use(answer)
    } finally {
      for (const each of [answer, ...given]) each.dispose()
    }
  }

  #onRejection(reason, isHandled) {
    this.#unhandled += isHandled ? -1 : 1
    if (isHandled || !this.#parts) return
    try {
      this.#reason = this.#ask("inspect", (each) => each.toString(), reason.dup())
    } catch (error) {
      error.handle?.dispose()
      this.#reason = "an error"
    }
  }

  #failed(message, code = 1, ranOutOfMemory = false) {
    writeText(this.#call, 2, message.slice(0, LONGEST_SAID))
    return { code, ranOutOfMemory }
  }
}

// Of the engine's own kind and words, or of those of the way to it.
function isLackOfMemory({ name, message }) {
  return (name === "InternalError" && message === "out of memory") || message === "wasm_malloc failed"
}

// No error of the host itself goes to a program: it would tell where the host's files are.
function plainly(work) {
  try {
    return work()
  } catch (error) {
    // oxlint-disable-next-line no-throw-literal -- what the engine makes an error of
    throw error instanceof GuestFileError ? error.message : plain(error).replace(/^Error: /, "")
  }
}

function nanoseconds() {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n
}
