/* oxlint-disable unicorn/consistent-function-scoping -- its text, as a whole, is what QuickJS runs */

/**
 * `fs`, and the bytes of texts. It runs in QuickJS, before any program; what it needs of the language it takes then, so
 * that no program can put itself in between. All goes to the host in pieces: the whole is in the engine's memory only.
 */
export function fileSystem(host) {
  const PIECE = 64 * 1024
  const FOLDER = 3
  const FILE = 4
  const LINK = 7
  const bound = Function.prototype.bind.bind(Function.prototype.call)
  const getter = (of, name) => bound(Object.getOwnPropertyDescriptor(of, name).get)
  const Bytes = Uint8Array
  const typed = Object.getPrototypeOf(Bytes.prototype)
  const [bufferOf, offsetOf, lengthOf] = ["buffer", "byteOffset", "byteLength"].map((name) =>
    getter(typed, name),
  )
  const bufferLength = getter(ArrayBuffer.prototype, "byteLength")
  const [viewBuffer, viewOffset, viewLength] = ["buffer", "byteOffset", "byteLength"].map((name) =>
    getter(DataView.prototype, name),
  )
  const { isView } = ArrayBuffer
  const put = bound(typed.set)
  const [sliceOf, codeAt] = [bound(String.prototype.slice), bound(String.prototype.charCodeAt)]
  const text = String
  const { parse } = JSON
  const { min } = Math

  const failure = (code, call, path) =>
    Object.assign(new Error(`${code}: ${call} '${path}'`), { code, syscall: call, path })
  const asked = (call, path, answer) => {
    if (typeof answer === "string" && answer[0] === "!") throw failure(sliceOf(answer, 1), call, path)
    return answer
  }

  // A character of two halves stays in one piece.
  const eachPiece = (whole, use) => {
    for (let at = 0; at < whole.length;) {
      let end = min(at + PIECE / 2, whole.length)
      const last = codeAt(whole, end - 1)
      if (end < whole.length && last >= 0xd800 && last < 0xdc00) end -= 1
      use(sliceOf(whole, at, end))
      at = end
    }
  }
  const encode = (value) => {
    const whole = text(value)
    if (whole.length <= PIECE / 2) return host.encode(whole)
    const parts = []
    let count = 0
    let length = 0
    eachPiece(whole, (piece) => {
      parts[count] = host.encode(piece)
      length += lengthOf(parts[count])
      count += 1
    })
    const bytes = new Bytes(length)
    for (let index = 0, at = 0; index < count; index += 1) {
      put(bytes, parts[index], at)
      at += lengthOf(parts[index])
    }
    return bytes
  }
  const decode = (bytes) => {
    const length = lengthOf(bytes)
    let whole = ""
    for (let at = 0; at === 0 || at < length; at += PIECE) {
      const piece = new Bytes(bufferOf(bytes), offsetOf(bytes) + at, min(PIECE, length - at))
      whole += host.decode(piece, at === 0, at + PIECE >= length)
    }
    return whole
  }
  const bytesOf = (data) => {
    if (typeof data === "string") return encode(data)
    if (!isView(data)) {
      try {
        return new Bytes(data, 0, bufferLength(data))
      } catch {
        throw new TypeError("The data must be text or bytes.")
      }
    }
    try {
      return new Bytes(bufferOf(data), offsetOf(data), lengthOf(data))
    } catch {
      return new Bytes(viewBuffer(data), viewOffset(data), viewLength(data))
    }
  }
  // The one encoding there is.
  const isText = (encoding) => {
    if (encoding === undefined || encoding === null || encoding === "buffer") return false
    if (/^utf-?8$/i.test(encoding)) return true
    throw new TypeError(`The encoding ${text(encoding)} is unknown: the embedded sandbox has utf8 only.`)
  }
  const encodingOf = (options) => (typeof options === "string" ? options : options?.encoding)

  const readBytes = (path) => {
    const size = asked("open", path, host.size(path))
    const bytes = new Bytes(size)
    for (let at = 0; at < size;) {
      const piece = new Bytes(bufferOf(bytes), at, min(PIECE * 2, size - at))
      const count = asked("open", path, host.read(path, at, piece))
      if (count === 0) break
      at += count
    }
    return bytes
  }
  const writeBytes = (path, data, options, appends) => {
    isText(encodingOf(options))
    const bytes = bytesOf(data)
    const length = lengthOf(bytes)
    for (let at = 0; at === 0 || at < length; at += PIECE * 2) {
      const piece = new Bytes(bufferOf(bytes), offsetOf(bytes) + at, min(PIECE * 2, length - at))
      asked("open", path, host.writeFile(path, piece, appends || at > 0))
    }
  }
  const described = (call, path, follows) => {
    const [kind, size] = parse(asked(call, path, host.describe(text(path), follows)))
    return {
      size,
      isFile: () => kind === FILE,
      isDirectory: () => kind === FOLDER,
      isSymbolicLink: () => kind === LINK,
    }
  }
  const fs = {
    readFileSync: (path, options) => {
      const wantsText = isText(encodingOf(options))
      const bytes = readBytes(text(path))
      return wantsText ? decode(bytes) : bytes
    },
    writeFileSync: (path, data, options) => writeBytes(text(path), data, options, false),
    appendFileSync: (path, data, options) => writeBytes(text(path), data, options, true),
    existsSync: (path) => host.kind(text(path), true) !== 0,
    readdirSync: (path) => {
      const names = []
      for (let from = 0; ;) {
        const some = parse(asked("scandir", path, host.list(text(path), from)))
        if (some.length === 0) return names.toSorted()
        from += some.length
        for (const name of some) if (name !== "." && name !== "..") names.push(name)
      }
    },
    mkdirSync: (path, options) => {
      const parts = text(path).split("/")
      const paths = options?.recursive
        ? parts.map((_, index) => parts.slice(0, index + 1).join("/"))
        : [text(path)]
      for (const each of paths) {
        if (each === "" || (options?.recursive && host.kind(each, true) === FOLDER)) continue
        asked("mkdir", path, host.makeFolder(each))
      }
    },
    unlinkSync: (path) => void asked("unlink", path, host.remove(text(path), false)),
    rmdirSync: (path) => void asked("rmdir", path, host.remove(text(path), true)),
    rmSync: (path, options) => {
      // A link is taken away, and not what it leads to.
      const kind = host.kind(text(path), false)
      if (kind === 0 && options?.force) return
      if (kind === FOLDER && options?.recursive) {
        for (const name of fs.readdirSync(path)) fs.rmSync(`${path}/${name}`, options)
      }
      asked("rm", path, host.remove(text(path), kind === FOLDER))
    },
    renameSync: (from, to) => void asked("rename", from, host.rename(text(from), text(to))),
    statSync: (path) => described("stat", path, true),
    lstatSync: (path) => described("lstat", path, false),
  }
  fs.promises = Object.fromEntries(
    Object.entries(fs).map(([name, run]) => [name.replace(/Sync$/, ""), async (...values) => run(...values)]),
  )
  const write = (stream, value) => eachPiece(text(value), (piece) => host.write(stream, piece))
  return { fs, encode, decode, bytesOf, isText, write, failure, asked }
}
