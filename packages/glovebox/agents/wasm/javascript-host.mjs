import { GuestFileError } from "./guest-files.mjs"

const WRITE_BYTES = 64 * 1024

/**
 * The functions by which programs in QuickJS reach the sandbox's files and streams, as an object of the engine's.
 *
 * @param {{ vm: import("quickjs-wasi").QuickJS, call: import("./shared-call.mjs").CallingEnd, files: import("./guest-files.mjs").GuestFiles, env: Record<string, string>, onExit: (code: number) => void }} options
 */
export function javaScriptHost({ vm, call, files, env, onExit }) {
  const sleeping = new Int32Array(new SharedArrayBuffer(4))
  const text = (value) => vm.newString(value)
  const json = (value) => text(JSON.stringify(value))
  const bytesOf = (handle) => Buffer.from(vm.dump(handle))
  const isTrue = (handle) => vm.dump(handle) === true
  // An error of files becomes text with a mark, which the prelude throws.
  const answered = (work) => {
    try {
      return work() ?? vm.undefined
    } catch (error) {
      if (error instanceof GuestFileError) return text(`!${error.message}`)
      throw error
    }
  }
  const functions = {
    write: (stream, value) => {
      writeText(call, stream.toNumber() === 2 ? 2 : 1, value.toString())
      return vm.undefined
    },
    now: () => vm.newNumber(performance.timeOrigin + performance.now()),
    sleep: (wait) => {
      const ms = wait.toNumber()
      if (ms > 0) Atomics.wait(sleeping, 0, 0, ms)
      return vm.undefined
    },
    exit: (code) => {
      onExit(code.toNumber() & 255)
      return vm.undefined
    },
    environment: () => json(env),
    encode: (value) => vm.newUint8Array(Buffer.from(value.toString(), "utf8")),
    decode: (bytes) => text(bytesOf(bytes).toString("utf8")),
    kind: (path) => vm.newNumber(files.kind(path.toString())),
    readFile: (path) => answered(() => vm.newUint8Array(files.read(path.toString()))),
    writeFile: (path, bytes, appends) =>
      answered(() => files.write(path.toString(), bytesOf(bytes), isTrue(appends))),
    describe: (path) => answered(() => json(files.describe(path.toString()))),
    list: (path) => answered(() => json(files.list(path.toString()))),
    makeFolder: (path) => answered(() => files.makeFolder(path.toString())),
    remove: (path, isFolder) => answered(() => files.remove(path.toString(), isTrue(isFolder))),
    rename: (from, to) => answered(() => files.rename(from.toString(), to.toString())),
  }
  const host = vm.newObject()
  for (const [name, run] of Object.entries(functions)) vm.setProp(host, name, vm.newFunction(name, run))
  return host
}

/** Writes to stdout (1) or stderr (2), and waits while nobody reads. */
export function writeText(call, stream, value) {
  const bytes = Buffer.from(value, "utf8")
  for (let at = 0; at < bytes.length; at += WRITE_BYTES) {
    call.call("write", [stream, -1], bytes.subarray(at, at + WRITE_BYTES))
  }
}
