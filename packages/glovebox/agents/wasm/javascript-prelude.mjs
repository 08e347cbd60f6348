/* oxlint-disable unicorn/consistent-function-scoping -- its text, as a whole, is what QuickJS runs */

/**
 * What programs expect around the language. It runs in QuickJS, before any program: `host` is the way to the sandbox's
 * own files and streams, and to nothing else.
 */
export function prelude(host, inspector, fileSystem) {
  const { inspect, format, told } = inspector()
  const { fs, encode, decode, bytesOf, isText, write, failure, asked } = fileSystem(host)
  const then = Function.prototype.bind.bind(Function.prototype.call)(Promise.prototype.then)
  const EngineError = InternalError
  // Of the engine's own class, in its own words: programs may say so of other things.
  const isLackOfMemory = (reason) => {
    try {
      return reason instanceof EngineError && reason.message === "out of memory"
    } catch {
      return false
    }
  }

  const writer =
    (stream) =>
    (...values) =>
      write(stream, `${format(values)}\n`)
  const log = writer(1)
  const error = writer(2)
  const started = new Map()
  const console = {
    log,
    info: log,
    debug: log,
    dir: (value) => log(value),
    table: (value) => log(value),
    error,
    warn: error,
    trace: error,
    assert: (holds, ...values) => holds || error("Assertion failed", ...values),
    time: (label = "default") => started.set(label, host.now()),
    timeEnd: (label = "default") =>
      log(`${label}: ${(host.now() - (started.get(label) ?? host.now())).toFixed(3)}ms`),
    group: log,
    groupEnd: () => {},
    count: () => {},
  }

  // Programs wait in order of their time; the host sleeps until then.
  let timers = []
  let lastTimer = 0
  const setTimer = (run, delay, values, every) => {
    lastTimer += 1
    const wait = Math.max(1, Number(delay) || 0)
    timers.push({ id: lastTimer, at: host.now() + wait, run, values, every: every ? wait : undefined })
    return lastTimer
  }
  const clear = (id) => {
    timers = timers.filter((timer) => timer.id !== id)
  }
  const nextTimer = () => {
    if (timers.length === 0) return false
    const timer = timers.reduce((first, other) => (other.at < first.at ? other : first))
    host.sleep(timer.at - host.now())
    if (timer.every === undefined) clear(timer.id)
    else timer.at = host.now() + timer.every
    timer.run(...timer.values)
    return true
  }

  const builtins = { fs, "fs/promises": fs.promises }
  const loaded = new Map()
  const joined = (folder, name) => {
    const parts = []
    for (const part of (name.startsWith("/") ? name : `${folder}/${name}`).split("/")) {
      if (part === "..") parts.pop()
      else if (part !== "" && part !== ".") parts.push(part)
    }
    return `/${parts.join("/")}`
  }
  const folderOf = (path) => path.slice(0, path.lastIndexOf("/")) || "/"
  const requireIn = (folder) => (name) => {
    const builtin = builtins[String(name).replace(/^node:/, "")]
    if (builtin) return builtin
    if (!/^\.{0,2}\//.test(name)) throw failure("MODULE_NOT_FOUND", "require", name)
    const from = joined(folder(), name)
    const endings = ["", ".js", ".cjs", ".ts", ".json", "/index.js"]
    const path = endings.map((ending) => from + ending).find((each) => host.kind(each, true) === 4)
    if (path === undefined) throw failure("MODULE_NOT_FOUND", "require", name)
    if (loaded.has(path)) return loaded.get(path).exports
    const module = { exports: {} }
    loaded.set(path, module)
    try {
      load(path, module)
    } catch (failed) {
      loaded.delete(path)
      throw failed
    }
    return module.exports
  }
  const load = (path, module) => {
    const source = asked("open", path, host.source(path)).slice(1)
    if (path.endsWith(".json")) {
      module.exports = JSON.parse(source)
      return
    }
    const folder = folderOf(path)
    // oxlint-disable-next-line typescript/no-implied-eval -- within QuickJS, where it is the program's own
    const run = new Function("module", "exports", "require", "__filename", "__dirname", source)
    run(
      module,
      module.exports,
      requireIn(() => folder),
      path,
      folder,
    )
  }
  // Of the block that runs.
  let blockFolder = "/workspace"

  const process = {
    argv: ["node"],
    env: JSON.parse(host.environment()),
    platform: "wasi",
    version: "",
    versions: {},
    exitCode: undefined,
    cwd: () => "/workspace",
    exit: (code) => {
      host.exit(Number(code ?? process.exitCode ?? 0))
      // The host ends it here: no catch and no finally of the program sees it.
      for (;;);
    },
    stdout: { write: (text) => (write(1, text), true) },
    stderr: { write: (text) => (write(2, text), true) },
    hrtime: { bigint: () => BigInt(Math.round(host.now() * 1e6)) },
    nextTick: (run, ...values) => queueMicrotask(() => run(...values)),
  }

  class TextEncoder {
    encode(text = "") {
      return encode(text)
    }
  }
  class TextDecoder {
    constructor(label = "utf-8") {
      isText(label)
    }
    decode(bytes) {
      return bytes === undefined ? "" : decode(bytesOf(bytes))
    }
  }

  Object.assign(globalThis, {
    console,
    print: log,
    process,
    require: requireIn(() => blockFolder),
    TextEncoder,
    TextDecoder,
    global: globalThis,
    setTimeout: (run, delay, ...values) => setTimer(run, delay, values, false),
    setInterval: (run, delay, ...values) => setTimer(run, delay, values, true),
    setImmediate: (run, ...values) => setTimer(run, 0, values, false),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  })
  return {
    nextTimer,
    inspect: (value) => inspect(value),
    begin: (file) => {
      Object.defineProperty(process, "argv", {
        value: ["node", file],
        writable: true,
        enumerable: true,
        configurable: true,
      })
      process.exitCode = undefined
      blockFolder = folderOf(joined("/workspace", file))
      timers = []
    },
    exitCode: () => Number(process.exitCode ?? 0) & 255,
    watch: (promise, settled) => {
      then(
        promise,
        () => settled("", false),
        (reason) => {
          settled(`Uncaught ${told(reason)}\n`, isLackOfMemory(reason))
        },
      )
    },
  }
}
