import { spawnSync } from "node:child_process"
import { openSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

const PAGE_BYTES = 65_536

/** What this process has seen of its own confinement: each is tried, not believed. */
export function readFacts(config) {
  return {
    version: 1,
    python: versionOf(config.python),
    uid: 0,
    gid: 0,
    status: {
      quickjs: versionOf(config.quickjsWasm),
      node: process.version,
      ...tryWalls(config.pages),
    },
    programs: { python3: "python.wasm", node: "quickjs.wasm" },
    interfaces: [],
    root: { readOnly: true },
    workspace: { bytes: config.files.maxBytes, files: config.files.maxFiles },
    cgroup: { version: null, memory: config.pages * PAGE_BYTES, swap: null, pids: null, cpus: null },
    ready: false,
  }
}

/** The walls of the thread that asks which let something through. */
export function openWalls(pages) {
  return Object.entries(tryWalls(pages))
    .filter(([, seen]) => seen !== "denied")
    .map(([wall]) => wall)
}

// What is tried is harmless where it works.
function tryWalls(pages) {
  return {
    memoryAboveLimit: tried(() => new WebAssembly.Memory({ initial: pages + 1 })),
    // oxlint-disable-next-line typescript/no-implied-eval -- to see that it is refused
    codeFromStrings: tried(() => new Function("return 1")()),
    hostFiles: tried(() => readFileSync(process.execPath, { flag: "r" })),
    hostWrites: tried(() => openSync("/dev/null", "w")),
    hostProcesses: tried(() => spawnSync(process.execPath, ["--version"])),
    hostEnvironment: Object.keys(process.env).length === 0 ? "denied" : "allowed",
  }
}

function tried(attempt) {
  try {
    attempt()
    return "allowed"
  } catch {
    return "denied"
  }
}

function versionOf(wasm) {
  for (const folder of [dirname(wasm), dirname(dirname(wasm))]) {
    try {
      return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version
    } catch {
      // One folder up, then.
    }
  }
  return "unknown"
}
