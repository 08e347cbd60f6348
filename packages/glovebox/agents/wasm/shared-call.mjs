// The memory by which a guest's thread asks the main thread for something and waits: a state, a number for what is
// asked, the error of the answer, the length of the data; then numbers; then the data.
const STATE = 0
const CALL = 1
const ERRNO_AT = 2
const LENGTH = 3
const NUMBERS_AT = 64
const NUMBERS = 8
const DATA_AT = NUMBERS_AT + NUMBERS * 8
/** How much data one call can carry. */
export const CALL_BYTES = 128 * 1024

const ASKED = 1
const ANSWERED = 2

class SharedCall {
  /** @param {SharedArrayBuffer} memory */
  constructor(memory) {
    this.words = new Int32Array(memory, 0, NUMBERS_AT / 4)
    this.numbers = new Float64Array(memory, NUMBERS_AT, NUMBERS)
    this.data = new Uint8Array(memory, DATA_AT, CALL_BYTES)
  }
}

/** The guest's end: each call waits for its answer. */
export class CallingEnd extends SharedCall {
  #post

  /** @param {SharedArrayBuffer} memory @param {() => void} post makes the other end look */
  constructor(memory, post) {
    super(memory)
    this.#post = post
  }

  /** The error's number, 0 for none; what was answered is in `numbers` and the first `length` of `data`. */
  call(name, numbers = [], data) {
    this.numbers.set(numbers)
    if (data) this.data.set(data)
    this.words[LENGTH] = data?.length ?? 0
    this.words[CALL] = CALLS.indexOf(name)
    Atomics.store(this.words, STATE, ASKED)
    this.#post()
    // The notice of the answer before may come only now.
    while (Atomics.load(this.words, STATE) === ASKED) Atomics.wait(this.words, STATE, ASKED)
    return this.words[ERRNO_AT]
  }

  get length() {
    return this.words[LENGTH]
  }
}

/** The main thread's end. */
export class AnsweringEnd extends SharedCall {
  static memory() {
    return new SharedArrayBuffer(DATA_AT + CALL_BYTES)
  }

  /** What is asked: its name, its numbers, and a copy of its data. */
  asked() {
    return {
      name: CALLS[this.words[CALL]],
      numbers: [...this.numbers],
      data: this.data.slice(0, this.words[LENGTH]),
    }
  }

  answer(errno, numbers = [], length = 0) {
    this.numbers.set(numbers)
    this.words[ERRNO_AT] = errno
    this.words[LENGTH] = length
    Atomics.store(this.words, STATE, ANSWERED)
    Atomics.notify(this.words, STATE)
  }
}

const CALLS = [
  "next",
  "finished",
  "ended",
  "open",
  "close",
  "read",
  "write",
  "seek",
  "describe",
  "describePath",
  "setFlags",
  "resize",
  "setTimes",
  "setPathTimes",
  "list",
  "makeFolder",
  "removeFolder",
  "removeFile",
  "rename",
  "link",
  "makeLink",
  "readLink",
  "setMode",
]
