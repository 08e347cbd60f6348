import { lab } from "./define-probe.ts"
import { type Finding, allowed, blocked, failed, inconclusive } from "./finding.ts"
import { type GuestLanguage, attackFromGuest } from "./guest-probe.ts"
import type { Lab, LabRun } from "./lab.ts"
import type { Probe } from "./probe.ts"

const LEAVE: Readonly<Record<GuestLanguage, (token: string) => string>> = {
  python: (token) => `import builtins, json, os, sys
builtins.left = "${token}"
json.left = "${token}"
sys.path.insert(0, "/${token}")
os.environ["LEFT"] = "${token}"
open("/tmp/${token}", "w").close()
`,
  javascript: (token) => `globalThis.left = "${token}"
Object.prototype.left = "${token}"
Array.prototype.push = () => "${token}"
process.env.LEFT = "${token}"
require("fs").writeFileSync("/tmp/${token}", "x")
`,
}
const LOOK: Readonly<Record<GuestLanguage, (token: string) => string>> = {
  python: (token) => `import builtins, json, os, sys
found = [getattr(builtins, "left", 0), getattr(json, "left", 0), "/${token}" in sys.path, os.environ.get("LEFT", 0), os.path.exists("/tmp/${token}")]
print("found" if any(found) else "nothing", found)
`,
  javascript: (token) => `const fs_ = require("fs")
const all = [globalThis.left, ({}).left, [].push(1) === "${token}", process.env.LEFT, fs_.existsSync("/tmp/${token}")]
console.log(all.some(Boolean) ? "found" : "nothing")
`,
}
const CHANCE: Readonly<Record<GuestLanguage, string>> = {
  python: `import os, random, uuid\nprint(random.random(), hash("a"), os.urandom(8).hex(), uuid.uuid4())`,
  javascript: `console.log(Math.random(), Math.random())`,
}
const LANGUAGES: readonly GuestLanguage[] = ["python", "javascript"]

/** What a guest learns of its host and of other runs, and what the host makes of what it says. */
export const GUEST_TRACE_PROBES: readonly Probe[] = [
  lab("wasm", {
    id: "wasm.environment",
    title: "find a value of this process's environment, from JavaScript and Python",
    why: "keys of services are in variables",
    tiers: ["wasm"],
    careless: "the same program runs in Node itself",
    quick: true,
    run: findVariable,
  }),
  lab("wasm", {
    id: "wasm.state",
    title: "find what the run before changed in the interpreter and its files",
    why: "an interpreter that is used again is where one user's code meets another's",
    tiers: ["wasm"],
    // A session keeps variables and files, which is what it is for.
    expects: ({ facts }) => (facts.path === "session" ? "ALLOWED" : "BLOCKED"),
    careless: "both are one run",
    quick: true,
    run: findState,
  }),
  lab("wasm", {
    id: "wasm.random",
    title: "get the same random numbers as the run before",
    why: "an interpreter that was started once and copied gives everybody the same secrets",
    tiers: ["wasm"],
    expects: ({ facts }) => (facts.path === "session" ? undefined : "BLOCKED"),
    careless: "a run is compared with itself",
    run: repeatChance,
  }),
  lab("wasm", {
    id: "wasm.results",
    title: "give back objects that act when the host looks at them",
    why: "getters, proxies and toJSON of a guest must never run in the host",
    tiers: ["wasm"],
    careless: "an object of the guest is taken as it is",
    quick: true,
    run: giveObjects,
  }),
  lab("wasm", {
    id: "wasm.process",
    title: "have the process around the interpreter read, write and start what it does not need",
    why: "should code leave its interpreter, this is the next wall",
    tiers: ["wasm"],
    careless: "the same is tried in Node itself",
    quick: true,
    run: tryWalls,
  }),
]

async function findVariable(one: Lab): Promise<Finding> {
  const { canary, token } = one
  const name = `GLOVEBOX_CANARY_${token}`
  process.env[name] = canary.secret
  try {
    const secret = JSON.stringify(canary.secret)
    const script = await attackFromGuest(one, {
      language: "javascript",
      attempts: `await attempt("process.env", () => JSON.stringify(process.env).includes(${secret}))
await attempt("process.argv", () => JSON.stringify(process.argv).includes(${secret}))
await attempt("/proc", () => require("fs").readFileSync("/proc/self/environ", "utf8").includes(${secret}))`,
    })
    if (one.isControl || script.observed !== "BLOCKED") return script
    return await attackFromGuest(one, {
      language: "python",
      attempts: `attempt("os.environ", lambda: ${secret} in str(dict(os.environ)))
attempt("sys.argv", lambda: ${secret} in str(sys.argv))
attempt("/proc", lambda: ${secret} in open("/proc/self/environ").read())`,
    })
  } finally {
    Reflect.deleteProperty(process.env, name)
  }
}

async function findState(one: Lab): Promise<Finding> {
  for (const language of LANGUAGES) {
    const [leave, look] = [LEAVE[language](one.token), LOOK[language](one.token)]
    let last: LabRun | undefined
    for (const code of one.isControl ? [leave + look] : [leave, look]) {
      last = await one.sandboxes.run(code, { language })
      if (last.exitCode !== 0) return failed(`${language} ended with ${last.exitCode}: ${last.stderr}`)
    }
    if (last?.stdout.includes("found") === true) return allowed(`${language} found it in the next run`)
    if (last?.stdout.includes("nothing") !== true) return failed(`${language} said ${last?.stdout ?? ""}`)
  }
  return blocked("the next run finds nothing of it, in Python and in JavaScript")
}

async function repeatChance(one: Lab): Promise<Finding> {
  let compared = 0
  for (const language of LANGUAGES) {
    const first = await one.sandboxes.run(CHANCE[language], { language })
    const second = one.isControl ? first : await one.sandboxes.run(CHANCE[language], { language })
    const [before, after] = [first, second].map(({ stdout }) => stdout.trim().split(/\s+/))
    if (!before || !after || before.length < 2) return failed(`${language} gave ${first.output}`)
    if (before.some((value, at) => value === after[at]))
      return allowed(`${language} gave ${after.join(" ")} twice`)
    compared += before.length
  }
  return blocked(`${compared} numbers, none of them twice`)
}

const OBJECTS = `const trap = new Proxy({}, { get: () => { throw new Error("trap") }, ownKeys: () => { throw new Error("trap") } })
let deep = {}
for (let at = 0; at < 5000; at += 1) deep = { deep }
for (const value of [trap, { toJSON() { return "x" }, get a() { throw 1 }, toString() { throw 2 } }, JSON.parse('{"__proto__": {"polluted": "yes"}}'), deep, 10n ** 400n, NaN, Symbol("x"), new Error("x"), { then(resolve) { resolve("then") } }])
  try { console.log(value) } catch (error) { console.log("threw") }
require("fs").writeFileSync("__proto__", "x")
Object.prototype.polluted = "yes"
console.log("said")`

async function giveObjects(one: Lab): Promise<Finding> {
  await using open = one.open({})
  const came = await open.run(OBJECTS, { language: "javascript" })
  const run: LabRun = one.isControl ? { ...came, artifacts: [Object.create({ polluted: "yes" })] } : came
  if (!came.stdout.includes("said")) return failed(`it ended with ${came.exitCode}: ${came.stderr}`)
  const plain: Record<string, unknown> = {}
  if (plain["polluted"] !== undefined) return allowed("every object has a field more")
  const isPlain =
    [run.output, run.stdout, run.stderr].every((text) => typeof text === "string") &&
    run.artifacts.every((file) => Object.getPrototypeOf(file) === Object.prototype)
  return isPlain
    ? blocked("text and plain files came back")
    : allowed("an object with another prototype came back")
}

const WALLS = [
  "memoryAboveLimit",
  "codeFromStrings",
  "hostFiles",
  "hostWrites",
  "hostProcesses",
  "hostEnvironment",
]
const FACTS = new URL("../../agents/wasm/facts.mjs", import.meta.url).href

// The agent tries each at its start, and tells.
async function tryWalls(one: Lab): Promise<Finding> {
  if (one.isControl) {
    const code = `import(${JSON.stringify(FACTS)}).then(({ openWalls }) => console.log(openWalls(1024).join(", ")))`
    const run = await one.runOutside("javascript", code)
    return run && run.stdout.trim() !== ""
      ? allowed(`open: ${run.stdout}`)
      : failed(run?.stderr ?? "it did not run")
  }
  const { sandbox } = await one.sandboxes.run("pass")
  const seen = WALLS.map((wall) => [wall, sandbox.effective?.[wall]] as const)
  if (seen.every(([, what]) => what === undefined)) return inconclusive("the process does not tell")
  const open = seen.filter(([, what]) => what !== "denied").map(([wall]) => wall)
  return open.length > 0
    ? allowed(`open: ${open.join(", ")}`)
    : blocked(
        `refused: ${WALLS.map((wall) => wall.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)).join(", ")}`,
      )
}
