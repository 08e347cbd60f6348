import { readFile } from "node:fs/promises"
import { FileError } from "./errno.mjs"
import { FrameReader } from "./frames.mjs"
import { GuestThread } from "./guest-thread.mjs"
import { MemoryFiles } from "./memory-files.mjs"
import { Output } from "./output.mjs"
import { Workspace } from "./workspace.mjs"

const PAGE_BYTES = 65_536
const config = JSON.parse(process.argv[2])

const output = new Output()
const files = new MemoryFiles(config.files)
const workspace = new Workspace(files)
const isSession = config.isolation === "session"

const pythonModule = await WebAssembly.compile(await readFile(config.python))
let python = newPython()

// What the host asks for is done one after the other; only the order to kill does not wait.
let turn = Promise.resolve()
let job

function newPython() {
  return new GuestThread({
    setup: { module: pythonModule, env: config.env },
    files,
    output,
    maxBytes: config.pages * PAGE_BYTES,
  })
}

async function run(current, { id, argv }) {
  files.wasFull = false
  if (current.killed) return output.send("x", { id, code: null, signal: 9, limits: [] })
  if (python.isOver) python = newPython()
  current.guest = python
  const end = await python.run(`${isSession ? "keep" : "once"} ${argv.at(-1)}`)
  job = undefined
  await output.send("x", { id, ...end })
}

function put(type, payload) {
  try {
    if (type === "D") return workspace.more(payload)
    const length = payload.readUInt16BE(0)
    const header = JSON.parse(payload.toString("utf8", 2, 2 + length))
    workspace.put(header, payload.subarray(2 + length))
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

function onFrame(type, payload) {
  if (type === "N" || type === "W") return
  if (type === "K") {
    if (!job) return
    job.killed = true
    void job.guest?.kill()
    return
  }
  const copy = Buffer.from(payload)
  if (type === "X") {
    const current = { killed: false, guest: undefined }
    job = current
    turn = turn.then(() => run(current, JSON.parse(copy.toString("utf8"))))
  } else if (type === "P" || type === "D") turn = turn.then(() => put(type, copy))
  else if (type === "U") {
    turn = turn.then(() => JSON.parse(copy.toString("utf8")).paths.forEach((path) => workspace.remove(path)))
  } else if (type === "C") turn = turn.then(() => collect(JSON.parse(copy.toString("utf8"))))
}

await python.started
const frames = new FrameReader(onFrame)
process.stdin.on("data", (chunk) => frames.push(chunk))
process.stdin.on("end", () => process.exit(0))
await output.send("R", {
  version: 1,
  python: "3.12.0",
  uid: 0,
  gid: 0,
  status: {},
  programs: { python3: "python.wasm", node: "quickjs.wasm" },
  interfaces: [],
  root: { readOnly: true },
  workspace: { bytes: config.files.maxBytes, files: config.files.maxFiles },
  cgroup: { version: null, memory: config.pages * PAGE_BYTES, swap: null, pids: null, cpus: null },
  ready: false,
})
