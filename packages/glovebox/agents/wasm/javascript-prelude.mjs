/* oxlint-disable unicorn/consistent-function-scoping -- its text, as a whole, is what QuickJS runs */

/**
 * What programs expect around the language. It runs in QuickJS, before any program: `host` is the way to the sandbox's
 * own files and streams, and to nothing else.
 */
export function prelude(host) {
  const failure = (code, call, path) =>
    Object.assign(new Error(`${code}: ${call} '${path}'`), { code, syscall: call, path })
  const asked = (call, path, answer) => {
    if (typeof answer === "string" && answer.startsWith("!")) throw failure(answer.slice(1), call, path)
    return answer
  }

  const utf8 = {
    encode: (text) => host.encode(String(text)),
    decode: (bytes) => host.decode(bytes),
  }
  const DEPTH = 4
  const MOST_ITEMS = 100
  const isName = /^[A-Za-z_$][\w$]*$/

  function inspect(value, depth = 0, above = []) {
    if (typeof value === "string") return depth === 0 ? value : JSON.stringify(value)
    if (typeof value === "bigint") return `${value}n`
    if (typeof value === "symbol") return value.toString()
    if (Object.is(value, -0)) return "-0"
    if (typeof value === "function") {
      return `[${/^class\b/.test(Function.prototype.toString.call(value)) ? "class" : "Function"} ${value.name || "(anonymous)"}]`
    }
    if (typeof value !== "object" || value === null) return String(value)
    if (above.includes(value)) return "[Circular]"
    if (value instanceof Error) return value.stack ? `${value}\n${value.stack.trimEnd()}` : String(value)
    if (value instanceof Date) return Number.isNaN(+value) ? "Invalid Date" : value.toISOString()
    if (value instanceof RegExp) return String(value)
    if (depth > DEPTH) return Array.isArray(value) ? "[Array]" : "[Object]"
    const inner = (item) => inspect(item, depth + 1, [...above, value])
    const listed = (items) => {
      const shown = items.slice(0, MOST_ITEMS)
      return items.length > MOST_ITEMS ? [...shown, `... ${items.length - MOST_ITEMS} more`] : shown
    }
    const wrapped = (open, items, close) => {
      if (items.length === 0) return `${open}${close}`
      const line = `${open} ${items.join(", ")} ${close}`
      if (line.length <= 76 && !line.includes("\n")) return line
      const pad = "  ".repeat(depth + 1)
      return `${open}\n${items.map((item) => pad + item).join(",\n")}\n${"  ".repeat(depth)}${close}`
    }
    if (Array.isArray(value)) return wrapped("[", listed(Array.from(value, inner)), "]")
    if (ArrayBuffer.isView(value) && "length" in value) {
      const items = listed(Array.from(value.subarray(0, MOST_ITEMS + 1), inner))
      return wrapped(`${value.constructor.name}(${String(value.length)}) [`, items, "]")
    }
    if (value instanceof Map) {
      return wrapped(
        `Map(${value.size}) {`,
        listed([...value].map(([k, v]) => `${inner(k)} => ${inner(v)}`)),
        "}",
      )
    }
    if (value instanceof Set) return wrapped(`Set(${value.size}) {`, listed([...value].map(inner)), "}")
    if (value instanceof Promise) return "Promise {}"
    const name = Object.getPrototypeOf(value)?.constructor?.name ?? "[Object: null prototype]"
    const keys = Reflect.ownKeys(value).filter((key) =>
      Object.prototype.propertyIsEnumerable.call(value, key),
    )
    const fields = keys.map((key) => {
      const shown =
        typeof key === "symbol" ? `[${String(key)}]` : isName.test(key) ? key : JSON.stringify(key)
      return `${shown}: ${inner(value[key])}`
    })
    return wrapped(name === "Object" ? "{" : `${name} {`, listed(fields), "}")
  }

  function format(values) {
    const rest = [...values]
    if (typeof rest[0] !== "string" || rest.length === 1) return rest.map((value) => inspect(value)).join(" ")
    const first = rest.shift().replace(/%[sdifjoO%]/g, (mark) => {
      if (mark === "%%") return "%"
      if (rest.length === 0) return mark
      const value = rest.shift()
      if (mark === "%s") return typeof value === "string" ? value : inspect(value, 1)
      if (mark === "%d" || mark === "%f") return String(Number(value))
      if (mark === "%i") return String(Number.parseInt(value, 10))
      return mark === "%j" ? JSON.stringify(value) : inspect(value, 1)
    })
    return [first, ...rest.map((value) => inspect(value))].join(" ")
  }

  const writer =
    (stream) =>
    (...values) =>
      host.write(stream, `${format(values)}\n`)
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

  const bytesOf = (data) => {
    if (typeof data === "string") return utf8.encode(data)
    if (data instanceof ArrayBuffer) return new Uint8Array(data)
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    throw new TypeError("The data must be text or bytes.")
  }
  const encodingOf = (options) => (typeof options === "string" ? options : options?.encoding)
  const fs = {
    readFileSync: (path, options) => {
      const bytes = asked("open", path, host.readFile(String(path)))
      return encodingOf(options) ? utf8.decode(bytes) : bytes
    },
    writeFileSync: (path, data) =>
      void asked("open", path, host.writeFile(String(path), bytesOf(data), false)),
    appendFileSync: (path, data) =>
      void asked("open", path, host.writeFile(String(path), bytesOf(data), true)),
    existsSync: (path) => host.kind(String(path)) !== 0,
    readdirSync: (path) => JSON.parse(asked("scandir", path, host.list(String(path)))),
    mkdirSync: (path, options) => {
      const parts = String(path).split("/")
      const paths = options?.recursive
        ? parts.map((_, index) => parts.slice(0, index + 1).join("/"))
        : [String(path)]
      for (const each of paths) {
        if (each === "" || (options?.recursive && host.kind(each) === 3)) continue
        asked("mkdir", path, host.makeFolder(each))
      }
    },
    unlinkSync: (path) => void asked("unlink", path, host.remove(String(path), false)),
    rmdirSync: (path) => void asked("rmdir", path, host.remove(String(path), true)),
    rmSync: (path, options) => {
      const kind = host.kind(String(path))
      if (kind === 0 && options?.force) return
      if (kind === 3 && options?.recursive) {
        for (const name of fs.readdirSync(path)) fs.rmSync(`${path}/${name}`, options)
      }
      asked("rm", path, host.remove(String(path), kind === 3))
    },
    renameSync: (from, to) => void asked("rename", from, host.rename(String(from), String(to))),
    statSync: (path) => {
      const [kind, size] = JSON.parse(asked("stat", path, host.describe(String(path))))
      return { size, isFile: () => kind === 4, isDirectory: () => kind === 3 }
    },
  }
  fs.promises = Object.fromEntries(
    Object.entries(fs).map(([name, run]) => [name.replace(/Sync$/, ""), async (...values) => run(...values)]),
  )

  const builtins = { fs, "fs/promises": fs.promises }
  const loaded = new Map()
  const require = (name) => {
    const builtin = builtins[String(name).replace(/^node:/, "")]
    if (builtin) return builtin
    if (!/^\.{0,2}\//.test(name)) throw failure("MODULE_NOT_FOUND", "require", name)
    const path = [name, `${name}.js`, `${name}.json`].find((each) => host.kind(each) === 4)
    if (path === undefined) throw failure("MODULE_NOT_FOUND", "require", name)
    if (loaded.has(path)) return loaded.get(path).exports
    const module = { exports: {} }
    loaded.set(path, module)
    const source = fs.readFileSync(path, "utf8")
    if (path.endsWith(".json")) module.exports = JSON.parse(source)
    else {
      // oxlint-disable-next-line typescript/no-implied-eval -- within QuickJS, where it is the program's own
      new Function("module", "exports", "require", source)(module, module.exports, require)
    }
    return module.exports
  }

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
    stdout: { write: (text) => (host.write(1, String(text)), true) },
    stderr: { write: (text) => (host.write(2, String(text)), true) },
    hrtime: { bigint: () => BigInt(Math.round(host.now() * 1e6)) },
    nextTick: (run, ...values) => queueMicrotask(() => run(...values)),
  }

  class TextEncoder {
    encode(text = "") {
      return utf8.encode(text)
    }
  }
  class TextDecoder {
    decode(bytes) {
      return bytes === undefined ? "" : utf8.decode(bytesOf(bytes))
    }
  }

  Object.assign(globalThis, {
    console,
    print: log,
    process,
    require,
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
      process.argv = ["node", file]
      process.exitCode = undefined
      timers = []
    },
    exitCode: () => (process.exitCode ?? 0) & 255,
    watch: (promise, settled) =>
      promise.then(
        () => settled(""),
        (reason) => settled(`Uncaught ${inspect(reason)}\n`),
      ),
  }
}
