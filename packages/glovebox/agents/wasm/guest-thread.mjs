import { Worker } from "node:worker_threads"
import { ERRNO, FileError } from "./errno.mjs"
import { OpenFiles } from "./open-files.mjs"
import { LONGEST_ANSWER } from "./frames.mjs"
import { AnsweringEnd } from "./shared-call.mjs"

const SIGKILL = 9
const SIGSEGV = 11
const SIGABRT = 6
// Of what an interpreter says before it has work; only one that cannot start is asked for it.
const SAID_KEPT = 2000
const GUEST = new URL("guest.mjs", import.meta.url)
// V8's own heap, for the glue around the guest; and stack for an interpreter that calls itself.
const RESOURCES = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 8 }

/** One interpreter in a thread of its own, seen from the main thread. */
export class GuestThread {
  #worker
  #calls
  #files
  #open
  #output
  #maxBytes
  #started = deferred()
  #run
  #isOver = false
  #hasStarted = false
  #isWaiting = false
  #code = 0
  #ranOutOfMemory = false
  #said = ""

  /** @param {{ setup: object, files: import("./memory-files.mjs").MemoryFiles, output: import("./output.mjs").Output, maxBytes: number }} options */
  constructor({ setup, files, output, maxBytes }) {
    this.#files = files
    this.#open = new OpenFiles(files)
    this.#output = output
    this.#maxBytes = maxBytes
    const memory = AnsweringEnd.memory()
    this.#calls = new AnsweringEnd(memory)
    this.#worker = new Worker(GUEST, {
      workerData: { ...setup, memory },
      resourceLimits: RESOURCES,
      env: {},
      stdin: false,
    })
    this.#worker.on("message", () => void this.#onCall())
    this.#worker.on("error", (error) => this.#onLost(error))
    this.#worker.on("exit", () => this.#onLost())
    this.#started.promise.catch(() => {})
  }

  /** Resolves when the interpreter waits for its work. */
  get started() {
    return this.#started.promise
  }

  /** Whether it can be given work at once. */
  get isWaiting() {
    return this.#isWaiting && !this.#isOver
  }

  get isOver() {
    return this.#isOver
  }

  /** Runs one block; resolves when it is over. */
  async run(command) {
    const over = deferred()
    this.#run = over
    this.#ranOutOfMemory = false
    // One that cannot start finishes the run.
    await this.#started.promise.then(
      () => this.#give(command),
      () => {},
    )
    return over.promise
  }

  /** Ends it at once, whatever it does. */
  async kill() {
    this.#finish({ code: null, signal: SIGKILL, limits: [] })
    await this.end()
  }

  async end() {
    if (!this.#isOver) {
      this.#isOver = true
      this.#open.closeAll()
    }
    this.#started.reject(new Error("ended"))
    await this.#worker.terminate()
  }

  #give(command) {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    const bytes = Buffer.from(command, "utf8")
    this.#calls.data.set(bytes)
    this.#calls.answer(ERRNO.SUCCESS, [bytes.length], bytes.length)
  }

  async #onCall() {
    if (this.#isOver) return
    const { name, numbers, data } = this.#calls.asked()
    if (name === "next") return this.#onNext()
    if (name === "finished") return this.#onFinished(numbers)
    if (name === "ended") return this.#onEnded(numbers, data)
    const stream = name === "read" || name === "write" ? this.#open.streamOf(numbers[0]) : undefined
    if (stream === "control") return name === "read" ? this.#onNext() : this.#onWord(data)
    if (name === "write" && (stream === "stdout" || stream === "stderr")) return this.#write(stream, data)
    try {
      const answer = this.#open[name](numbers, data, this.#calls.data)
      this.#calls.answer(ERRNO.SUCCESS, answer)
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      this.#calls.answer(error.errno)
    }
  }

  // Frame by frame: nothing may follow the end of a run, which can come while the host does not read.
  async #write(stream, data) {
    const run = this.#run
    if (!this.#hasStarted) this.#said = (this.#said + Buffer.from(data).toString("utf8")).slice(-SAID_KEPT)
    const isWanted = () => run !== undefined && run === this.#run
    for (let at = 0; isWanted() && at < data.length; at += LONGEST_ANSWER) {
      await this.#output.write(stream, data.subarray(at, at + LONGEST_ANSWER))
    }
    if (!this.#isOver) this.#calls.answer(ERRNO.SUCCESS, [data.length])
  }

  // The interpreter waits for work; what it was given before is done.
  #onNext() {
    this.#isWaiting = true
    if (this.#hasStarted) return this.#finish(this.#endOf(this.#code))
    this.#hasStarted = true
    this.#started.resolve()
  }

  #onFinished([code, ranOutOfMemory]) {
    this.#code = code & 0xff
    if (ranOutOfMemory) this.#ranOutOfMemory = true
    this.#calls.answer(ERRNO.SUCCESS)
  }

  #onWord(data) {
    const word = Buffer.from(data).toString("latin1")
    const [, mode, path] = /^chmod ([0-7]{1,4}) (.+)$/s.exec(word) ?? []
    let errno = ERRNO.SUCCESS
    if (word === "memory") this.#ranOutOfMemory = true
    else if (/^end \d+$/.test(word)) this.#code = Number(word.slice(4)) & 0xff
    else if (path === undefined) errno = ERRNO.INVAL
    else errno = this.#setMode(Number.parseInt(mode, 8), path)
    this.#calls.answer(errno, [data.length])
  }

  #setMode(mode, path) {
    try {
      this.#open.setMode([mode], Buffer.from(path, "latin1"))
      return ERRNO.SUCCESS
    } catch (error) {
      if (error instanceof FileError) return error.errno
      throw error
    }
  }

  #onEnded([code, isOverflow, bytes], data) {
    const crash = Buffer.from(data).toString("utf8")
    // What cannot get memory may not even be able to say so; one that can end by itself can.
    if (code < 0 && bytes > this.#maxBytes * 0.97) this.#ranOutOfMemory = true
    if (code >= 0) this.#finish(this.#endOf(code))
    else if (isOverflow) this.#finish({ code: null, signal: SIGSEGV, limits: [] })
    else this.#finish(this.#endOf(undefined))
    const why = [crash, this.#said.trim()].filter((each) => each !== "").join("; ")
    this.#started.reject(new Error(`The interpreter ended at its start${why && `: ${why}`}.`))
    void this.end()
  }

  #endOf(code) {
    if (this.#ranOutOfMemory && code !== 0) return { code: null, signal: SIGKILL, limits: ["memory"] }
    return code === undefined
      ? { code: null, signal: SIGABRT, limits: [] }
      : { code, signal: null, limits: [] }
  }

  #onLost(error) {
    const limits = error?.code === "ERR_WORKER_OUT_OF_MEMORY" ? ["memory"] : []
    this.#finish({ code: null, signal: SIGKILL, limits })
    this.#started.reject(error ?? new Error("The thread of the interpreter ended."))
    if (this.#isOver) return
    this.#isOver = true
    this.#open.closeAll()
  }

  #finish({ code, signal, limits }) {
    const run = this.#run
    this.#run = undefined
    run?.resolve({ code, signal, limits: [...limits, ...(this.#files.wasFull ? ["workspace"] : [])] })
  }
}

function deferred() {
  const made = {}
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }))
  return made
}
