import { readFile } from "node:fs/promises"
import { setFlagsFromString } from "node:v8"
import { FileError } from "./errno.mjs"
import { GuestThread } from "./guest-thread.mjs"
import { Input } from "./input.mjs"
import { MemoryFiles } from "./memory-files.mjs"
import { Output } from "./output.mjs"
import { readFacts } from "./facts.mjs"
import { Workspace } from "./workspace.mjs"

const PAGE_BYTES = 65_536
// Failures are part of the work here, and nobody reads where they came from.
Error.stackTraceLimit = 0
// V8 would optimise what each start of an interpreter runs once, for twice its time; what runs long still gets there.
setFlagsFromString("--wasm-tiering-budget=100000000")

const input = new Input()
const config = await input.config()
const { env } = config
const maxBytes = config.pages * PAGE_BYTES
const isSession = config.isolation === "session"
const output = new Output()
const files = new MemoryFiles(config.files)
if (config.library.source) files.addLibrary(`${config.library.name}.py`, config.library.source)
const workspace = new Workspace(files)

const modules = new Map()
const guests = new Map()
// How many interpreters of a language were started: another one has other variables.
const numbers = new Map()
const KILLED = { code: null, signal: 9, limits: [] }
const LANGUAGES = { python3: "python", node: "javascript" }

async function guestFor(language) {
  const running = guests.get(language)
  if (running && !running.isOver) return running
  const guest = new GuestThread({
    setup: { ...(await setupOf(language)), pages: config.pages },
    files,
    output,
    maxBytes,
  })
  guests.set(language, guest)
  numbers.set(language, (numbers.get(language) ?? 0) + 1)
  return guest
}

async function setupOf(language) {
  if (language === "python") {
    return {
      language,
      env,
      isWarm: config.warm,
      module: await compiled(config.python),
      library: config.library.source ? "/lib/glovebox" : "",
    }
  }
  const { quickjs, typescript } = config
  return { language, env, maxBytes, quickjs, typescript, module: await compiled(config.quickjsWasm) }
}

async function compiled(path) {
  let module = modules.get(path)
  if (!module) modules.set(path, (module = await WebAssembly.compile(await readFile(path))))
  return module
}

// What the host asks for is done one after the other; only the order to kill does not wait.
let turn = Promise.resolve()
let job

async function run(current, { id, argv, how }) {
  files.wasFull = false
  const language = LANGUAGES[argv[0]]
  const guest = await guestFor(language)
  current.guest = guest
  const end = current.killed ? KILLED : await (how === "kernel" ? started(guest) : runIn(guest, argv))
  if (job === current) job = undefined
  await output.send("x", { id, ...end, kernel: { number: numbers.get(language), alive: guest.isWaiting } })
}

async function runIn(guest, argv) {
  const end = await guest.run(`${isSession ? "keep" : "once"} ${argv.at(-1)}`)
  if (!isSession) void guest.end()
  return end
}

async function started(guest) {
  return guest.started.then(
    () => ({ code: 0, signal: null, limits: [] }),
    () => KILLED,
  )
}

async function put(type, payload) {
  try {
    if (type === "D") return workspace.more(payload)
    const length = payload.readUInt16BE(0)
    const header = JSON.parse(payload.toString("utf8", 2, 2 + length))
    return workspace.put(header, payload.subarray(2 + length))
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    const path = workspace.failed().slice(0, 1000)
    return output.send("!", { op: type, path, message: error.message })
  }
}

async function collect(limits) {
  for (const change of workspace.changes(limits)) {
    if (change.type === "gone") await output.send("v", { path: change.path })
    else if (change.type === "end") await output.send("c", change.sum)
    else {
      await output.send("f", { path: change.path, size: change.size, mode: change.mode })
      for (const part of change.parts) await output.sendBytes("d", part)
    }
  }
}

function kill() {
  if (!job) return
  job.killed = true
  void job.guest?.kill()
}

function onFrame(type, payload) {
  if (type === "K") return kill()
  const work = workOf(type, payload)
  if (work) turn = turn.then(work)
}

function workOf(type, payload) {
  const json = () => JSON.parse(payload.toString("utf8"))
  if (type === "X") {
    const current = { killed: false, guest: undefined }
    job = current
    return () => run(current, json())
  }
  if (type === "P" || type === "D") return () => put(type, payload)
  if (type === "U") return () => json().paths.forEach((path) => workspace.remove(path))
  if (type === "C") return () => collect(json())
  return undefined
}

input.listen(onFrame)
const python = await guestFor("python")
await python.started.catch((error) => {
  process.stderr.write(error.message)
  process.exit(1)
})
await output.send("R", readFacts(config))
