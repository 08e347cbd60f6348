import { GuestFileError } from "./guest-files.mjs"
import { quickJsValues } from "./quickjs-values.mjs"

// The prelude hands over no more than this at once: what a program has grows in its own memory, not in that of the host.
const LONGEST_TEXT = 64 * 1024
const LONGEST_PIECE = 128 * 1024
const LONGEST_PATH = 4096
const LONGEST_SLEEP_MS = 2 ** 30
const WRITE_BYTES = 64 * 1024

/**
 * The functions by which programs in QuickJS reach the sandbox's files and streams, as an object of the engine's.
 *
 * @param {{ vm: import("quickjs-wasi").QuickJS, call: import("./shared-call.mjs").CallingEnd, files: import("./guest-files.mjs").GuestFiles, env: Record<string, string>, sourceOf: (path: string) => string, isEnded: () => boolean, onExit: (code: number) => void, onTrap: (error: Error) => void }} options
 */
export function javaScriptHost({ vm, call, files, env, sourceOf, isEnded, onExit, onTrap }) {
  const sleeping = new Int32Array(new SharedArrayBuffer(4))
  const given = quickJsValues(vm)
  const pathOf = (handle) => {
    if (!handle?.isString) return given.text(handle, 0)
    try {
      return given.text(handle, LONGEST_PATH)
    } catch {
      throw GuestFileError.named("ENAMETOOLONG")
    }
  }
  const json = (value) => vm.newString(JSON.stringify(value))
  let decoder
  const functions = {
    write: (stream, value) =>
      writeText(call, given.number(stream) === 2 ? 2 : 1, given.text(value, LONGEST_TEXT)),
    now: () => vm.newNumber(performance.timeOrigin + performance.now()),
    sleep: (wait) => {
      const ms = given.number(wait)
      if (ms > 0) Atomics.wait(sleeping, 0, 0, Math.min(ms, LONGEST_SLEEP_MS))
    },
    exit: (code) => void onExit(given.number(code) & 255),
    environment: () => json(env),
    encode: (value) => vm.newUint8Array(Buffer.from(given.text(value, LONGEST_TEXT), "utf8")),
    decode: (bytes, isFirst, isLast) => {
      if (!decoder || given.isTrue(isFirst)) decoder = new TextDecoder("utf-8", { ignoreBOM: true })
      return vm.newString(
        decoder.decode(given.bytes(bytes, LONGEST_PIECE), { stream: !given.isTrue(isLast) }),
      )
    },
    kind: (path, follows) => vm.newNumber(files.kind(pathOf(path), given.isTrue(follows))),
    source: (path) => vm.newString(`=${sourceOf(pathOf(path))}`),
    size: (path) => vm.newNumber(files.size(pathOf(path))),
    read: (path, at, into) =>
      vm.newNumber(files.readInto(pathOf(path), given.number(at), given.bytes(into, LONGEST_PIECE))),
    writeFile: (path, bytes, appends) =>
      files.write(pathOf(path), given.bytes(bytes, LONGEST_PIECE), given.isTrue(appends)),
    describe: (path, follows) => json(files.describe(pathOf(path), given.isTrue(follows))),
    list: (path, from) => json(files.list(pathOf(path), given.number(from))),
    makeFolder: (path) => files.makeFolder(pathOf(path)),
    remove: (path, isFolder) => files.remove(pathOf(path), given.isTrue(isFolder)),
    rename: (from, to) => files.rename(pathOf(from), pathOf(to)),
  }

  // The engine takes a copy of what is answered: ours is let go with the next call.
  let answer
  const answered = (run, handles) => {
    answer?.dispose()
    answer = undefined
    try {
      if (isEnded()) throw new Error("the program has ended")
      answer = run(...handles)
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) onTrap(error)
      // An error of files becomes text with a mark, which the prelude throws.
      if (!(error instanceof GuestFileError)) throw plain(error)
      answer = vm.newString(`!${error.message}`)
    }
    return answer ?? vm.undefined
  }
  const host = vm.newObject()
  for (const [name, run] of Object.entries(functions)) {
    const made = vm.newFunction(name, (...handles) => answered(run, handles))
    vm.setProp(host, name, made)
    made.dispose()
  }
  return host
}

/** What a program may see of an error of the host: what it says, and not where it was. */
export function plain(error) {
  return `${error?.name ?? "Error"}: ${error?.message ?? error}`
}

/** Writes to stdout (1) or stderr (2), and waits while nobody reads. */
export function writeText(call, stream, value) {
  const bytes = Buffer.from(value, "utf8")
  for (let at = 0; at < bytes.length; at += WRITE_BYTES) {
    call.call("write", [stream, -1], bytes.subarray(at, at + WRITE_BYTES))
  }
}
