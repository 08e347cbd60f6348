import { lab } from "./define-probe.ts"
import { allowed } from "./finding.ts"
import { attackFromGuest } from "./guest-probe.ts"
import type { Lab } from "./lab.ts"
import type { Probe } from "./probe.ts"

interface JavaScriptAttack {
  readonly id: string
  readonly title: string
  readonly why: string
  readonly quick?: boolean
  readonly attempts: (one: Lab) => string
}

const MODULES =
  "child_process cluster dgram dns http https inspector module net os tls v8 vm worker_threads".split(" ")
// What only Node has.
const IS_NODE = `(scope) => {
  const { process, Buffer, WebAssembly } = scope ?? {}
  return (process?.versions?.node || process?.binding || process?.mainModule) ? "Node's process" : Buffer ? "Buffer" : WebAssembly ? "WebAssembly" : false
}`

const ATTACKS: readonly JavaScriptAttack[] = [
  {
    id: "js-node",
    title: "reach what Node has, by its name, from JavaScript",
    why: "a guest that sees its host's objects is no guest",
    quick: true,
    attempts: () => `const seen = ${IS_NODE}
await attempt("globalThis", () => seen(globalThis))
for (const name of ["Buffer", "fetch", "WebAssembly", "WebSocket", "BroadcastChannel", "MessageChannel", "importScripts", "XMLHttpRequest", "Deno", "Bun", "gc"])
  await attempt(name, () => globalThis[name] !== undefined)
for (const name of ["binding", "mainModule", "dlopen", "getBuiltinModule", "kill", "pid", "report", "memoryUsage", "chdir", "_linkedBinding"])
  await attempt("process." + name, () => process[name] !== undefined)`,
  },
  {
    id: "js-modules",
    title: "load modules of Node, by require and import",
    why: "each of them is a way to the host",
    quick: true,
    attempts:
      () => `for (const name of ${JSON.stringify(MODULES)}) for (const full of [name, "node:" + name]) {
  await attempt("require " + full, () => Boolean(require(full)))
  await attempt("import " + full, async () => Boolean(await import(full)))
}
await attempt("process.binding", () => Boolean(process.binding("fs")))
await attempt("module.constructor", () => Boolean(module.constructor._load("net")))`,
  },
  {
    id: "js-constructors",
    title: "get from objects of the host to their constructors, and from those to the host's own globals",
    why: "so most sandboxes of JavaScript in JavaScript were left (CVE-2026-5752)",
    quick: true,
    attempts: () => `const seen = ${IS_NODE}
const fs = require("fs")
const caught = async (action) => { try { await action() } catch (error) { return error } }
const trap = new Proxy(function () {}, { get: (_, name) => { throw new Error(String(name)) } })
const things = {
  console, log: console.log, process, env: process.env, write: process.stdout.write, require, setTimeout, queueMicrotask, fs,
  read: fs.readFileSync, bytes: new TextEncoder().encode("x"), promise: import("fs"), missing: await caught(() => fs.readFileSync("/none")),
  unknown: await caught(() => require("none")), imported: await caught(() => import("none")), named: await caught(() => import(trap)),
  proxied: await caught(() => fs.writeFileSync("x", trap)), thrown: await caught(() => new TextDecoder().decode({ length: 9 })),
  generator: async function* () {}, iterator: (async function* () {})()[Symbol.asyncIterator](),
}
for (const [name, thing] of Object.entries(things)) for (let one = thing, depth = 0; one && depth < 4; one = Object.getPrototypeOf(one), depth += 1) {
  await attempt(name, () => seen(one.constructor.constructor("return globalThis")()))
  await attempt(name + ", in a getter", () => seen(Object.getOwnPropertyDescriptor(one, "constructor")?.value?.constructor("return this")()))
}`,
  },
  {
    id: "js-stack",
    title: "learn from errors where the host's code is, and from their call sites what it works with",
    why: "prepareStackTrace hands over the host's functions where it can be set",
    quick: true,
    attempts: () => `const fs = require("fs")
const hosts = /file:\\/\\/|node:|node_modules|\\.mjs/
const provoke = [() => fs.readFileSync("/none"), () => fs.readFileSync("\\0"), () => import("none"), () => require("none"), () => fs.writeFileSync("x", {}), () => fs.readFileSync("p".repeat(5000)), () => new TextDecoder("x"), () => { throw new Error("x") }]
for (const action of provoke) {
  await attempt("a stack", async () => { try { await action() } catch (error) { return hosts.test(String(error.stack)) && String(error.stack).match(hosts)[0] } })
  Error.prepareStackTrace = (_, sites) => sites
  await attempt("call sites", async () => { try { await action() } catch (error) { return Array.isArray(error.stack) && error.stack.some((site) => hosts.test(String(site.getFileName?.()))) } })
  Error.prepareStackTrace = undefined
}`,
  },
  {
    id: "js-files",
    title: "read a file of the host by its path, and write beside it, from JavaScript",
    why: "the host's files are what a sandbox is to keep from code",
    quick: true,
    attempts: ({ canary }) => `const fs = require("fs")
const file = ${JSON.stringify(canary.file)}, secret = ${JSON.stringify(canary.secret)}
for (const path of [file, "../".repeat(12) + file, "/workspace/../.." + file, "/proc/self/root" + file, "/proc/self/cwd/../../../.." + file, "//" + file, "file://" + file, file + "\\0"])
  await attempt(path.slice(0, 30), () => fs.readFileSync(path, "utf8").includes(secret))
for (const path of ["/etc/passwd", "/proc/self/environ", "/proc/1/cmdline", "/dev/urandom"])
  await attempt(path, () => fs.existsSync(path))
await attempt("a file beside it", () => { fs.writeFileSync(file + ".planted", "x"); return true })
await attempt("import", async () => Boolean(await import(file + ".js")))`,
  },
  {
    id: "js-processes",
    title: "start a program or a thread from JavaScript",
    why: "what it starts is the host's",
    attempts: () => `const { execPath } = process
await attempt("spawnSync", () => require("child_process").spawnSync(execPath, ["--version"]).status === 0)
await attempt("Worker", () => { const { Worker } = require("worker_threads"); new Worker("0", { eval: true }).terminate(); return true })
await attempt("a process's own binding", () => Boolean(process.binding("spawn_sync")))
await attempt("dlopen", () => typeof process.dlopen === "function")`,
  },
]

/** JavaScript in QuickJS, and its ways to Node. */
export const JAVASCRIPT_GUEST_PROBES: readonly Probe[] = [
  ...ATTACKS.map(({ id, attempts, ...rest }) =>
    lab("wasm", {
      ...rest,
      id: `wasm.${id}`,
      tiers: ["wasm"],
      careless: "the same program runs in Node itself",
      run: async (one) => attackFromGuest(one, { language: "javascript", attempts: attempts(one) }),
    }),
  ),
  lab("wasm", {
    id: "wasm.js-network",
    title: "send a word to listeners at every address of this machine, from JavaScript",
    why: "data leaves by it",
    tiers: ["wasm"],
    careless: "the same program runs in Node itself",
    run: async (one) => {
      await using listeners = await one.listen()
      const attempts = `const connected = (port, host) => new Promise((resolve, reject) => {
  const socket = require("net").connect(port, host, () => { socket.end("${one.token}"); resolve(true) })
  socket.on("error", reject); socket.on("close", () => resolve(false))
})
for (const [kind, host, port] of ${JSON.stringify(listeners.targets)}) if (kind === "tcp") {
  await attempt("connect " + host, () => connected(port, host))
  await attempt("fetch " + host, async () => Boolean(await fetch("http://" + (host.includes(":") ? "[" + host + "]" : host) + ":" + port)))
  await attempt("WebSocket " + host, () => Boolean(new WebSocket("ws://" + host + ":" + port)))
}`
      const found = await attackFromGuest(one, { language: "javascript", attempts })
      const arrivals = listeners.arrivals()
      return arrivals.length > 0 ? allowed(`heard: ${arrivals.join(", ")}`) : found
    },
  }),
]
