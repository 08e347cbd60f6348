import { randomFillSync } from "node:crypto"
import { pathToFileURL } from "node:url"
import { GuestFileError, GuestFiles } from "./guest-files.mjs"
import { javaScriptHost, writeText } from "./javascript-host.mjs"
import { JavaScriptModules } from "./javascript-modules.mjs"
import { prelude } from "./javascript-prelude.mjs"

// Of the stack that the engine counts; the thread's own is larger.
const STACK_BYTES = 256 * 1024
const HEADROOM_BYTES = 4 * 1024 ** 2
const BADF = 8
// As Node's, for a program that awaits what never comes.
const UNSETTLED = 13

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
      interruptHandler: () => made.#exit !== undefined,
      onUnhandledRejection: (_promise, reason, isHandled) => made.#onRejection(reason, isHandled),
      moduleLoader: {
        normalize: (base, name) => made.#modules.normalize(base, name),
        load: (name) => made.#modules.load(name),
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
    const host = javaScriptHost({ vm, call, files, env, onExit: (code) => (made.#exit = code) })
    made.#parts = vm.callFunction(vm.evalCode(`(${prelude.toString()})`, "<prelude>"), vm.undefined, host)
    made.#settled = vm.newFunction("settled", (message) => {
      made.#settlement = message.toString()
      return vm.undefined
    })
    return made
  }

  /** Runs one file. What it throws is no error of the program: the engine is then not to be used again. */
  run(file) {
    this.#exit = undefined
    this.#unhandled = 0
    this.#ask("begin", this.#vm.newString(file))
    try {
      return this.#evaluate(file)
    } catch (error) {
      if (this.#exit !== undefined) return { code: this.#exit, ranOutOfMemory: false }
      if (error instanceof RangeError || error instanceof WebAssembly.RuntimeError) throw error
      if (error instanceof GuestFileError) return this.#failed(`Cannot read ${file}: ${error.message}\n`)
      return this.#failed(`Uncaught ${error.name}: ${error.message}\n${error.stack ?? ""}\n`)
    }
  }

  #evaluate(file) {
    const source = this.#modules.source(file)
    const { TYPE_MODULE, ASYNC } = this.#flags
    this.#settlement = undefined
    const promise = this.#vm.evalCode(source, file, JavaScriptModules.isModule(source) ? TYPE_MODULE : ASYNC)
    this.#ask("watch", promise, this.#settled)
    do this.#vm.executePendingJobs()
    while (this.#exit === undefined && this.#vm.dump(this.#ask("nextTimer")) === true)
    if (this.#exit !== undefined) return { code: this.#exit, ranOutOfMemory: false }
    if (this.#settlement === undefined) {
      return this.#failed("Uncaught: the program awaits what never comes.\n", UNSETTLED)
    }
    if (this.#settlement !== "") return this.#failed(this.#settlement)
    if (this.#unhandled > 0) return this.#failed(`Uncaught (in promise) ${this.#reason}\n`)
    return { code: this.#ask("exitCode").toNumber(), ranOutOfMemory: false }
  }

  #ask(part, ...given) {
    return this.#vm.callFunction(this.#parts.getProp(part), this.#vm.undefined, ...given)
  }

  #onRejection(reason, isHandled) {
    this.#unhandled += isHandled ? -1 : 1
    if (isHandled || !this.#parts) return
    try {
      this.#reason = this.#ask("inspect", reason).toString()
    } catch {
      this.#reason = "an error"
    }
  }

  #failed(message, code = 1) {
    writeText(this.#call, 2, message)
    return { code, ranOutOfMemory: /out of memory/.test(message) }
  }
}

function nanoseconds() {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n
}
