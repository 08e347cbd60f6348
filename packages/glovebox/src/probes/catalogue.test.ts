import { readFileSync, readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { type PolicyInput, SandboxPolicy } from "../policy/index.ts"
import { PROBES, probesFor } from "./catalogue.ts"
import { FAMILIES, type ProbeContext, type ProbeFacts } from "./probe.ts"

const FACTS: ProbeFacts = {
  tier: "docker",
  path: "cold",
  hasOwnKernel: false,
  knownEnv: ["LANG"],
  imageVolumes: [],
  hostKernel: undefined,
  proxyPort: 3128,
  isLocal: true,
}

function context(policy: PolicyInput = {}, facts: Partial<ProbeFacts> = {}): ProbeContext {
  return { policy: new SandboxPolicy(policy).fields, facts: { ...FACTS, ...facts } }
}

/** What is expected of each probe, by its id. */
function expectations(policy: PolicyInput = {}, facts: Partial<ProbeFacts> = {}): Record<string, unknown> {
  const given = context(policy, facts)
  return Object.fromEntries(probesFor(given).map(({ id, expects }) => [id, expects(given)]))
}

describe("the catalogue", () => {
  it("has at least 65 probes for Docker, in every family that Docker has", () => {
    const docker = probesFor(context())
    expect(docker.length).toBeGreaterThanOrEqual(65)
    expect(new Set(docker.map(({ family }) => family))).toEqual(
      new Set(FAMILIES.filter((family) => family !== "wasm")),
    )
  })

  it("gives each an id of its own, a line on what and why, and a way to show that it can fail", () => {
    expect(new Set(PROBES.map(({ id }) => id)).size).toBe(PROBES.length)
    for (const { id, title, why, control, tiers } of PROBES) {
      expect(id).toMatch(/^[a-z]+\.[a-z-]+$/)
      expect([title, why].filter((text) => text === "" || text.includes("\n"))).toEqual([])
      expect(tiers.length).toBeGreaterThan(0)
      expect(control, id).toBeDefined()
    }
  })

  it("expects everything to be refused under deny-all", () => {
    expect(new Set(Object.values(expectations()))).toEqual(new Set(["BLOCKED"]))
  })

  it("names attacks that are there, and uses all that are", () => {
    const folder = fileURLToPath(new URL("../../agents/probes/", import.meta.url))
    const code = readdirSync(folder)
      .filter((name) => name.endsWith(".py"))
      .map((name) => readFileSync(`${folder}${name}`, "utf8"))
      .join("\n")
    const written = new Set([...code.matchAll(/^@attack\ndef (\w+)/gm)].map(([, name]) => name))
    const sources = fileURLToPath(new URL(".", import.meta.url))
    const texts = readdirSync(sources).map((name) => readFileSync(`${sources}${name}`, "utf8"))
    const asked = new Set(
      texts.flatMap((text) => [
        ...[...text.matchAll(/attack: "(\w+)"/g)].map(([, name]) => name),
        ...[...text.matchAll(/attack\(\s*"(\w+)"/g)].map(([, name]) => name),
      ]),
    )
    expect([...asked].filter((name) => !written.has(name))).toEqual([])
    expect([...written].filter((name) => !asked.has(name))).toEqual([])
  })
})

describe("what a policy expects", () => {
  it("of mounts: to be read, and to be written only if it says so", () => {
    const mounts = [
      { source: "/a", target: "/in", mode: "ro" as const },
      { source: "/b", target: "/out", mode: "rw" as const },
    ]
    expect(expectations({ mounts })).toMatchObject({
      "fs.mount-read:/in": "ALLOWED",
      "fs.mount-write:/in": "BLOCKED",
      "fs.mount-read:/out": "ALLOWED",
      "fs.mount-write:/out": "ALLOWED",
    })
  })

  it("of an allow-list: its hosts to be reached, by name and port, and nothing else", () => {
    const found = expectations({
      network: {
        allow: ["api.example.com:443", "*.cdn.example.com:443", { to: "a.example.com:80", methods: ["GET"] }],
        allowPrivate: ["10.0.0.5:5432"],
      },
    })
    expect(found).toMatchObject({
      "net.allowed:api.example.com:443": "ALLOWED",
      "net.allowed:a.example.com:80": "ALLOWED",
      "net.allowed:10.0.0.5:5432": "ALLOWED",
      "net.proxy-unlisted": "BLOCKED",
      "net.proxy-names": "BLOCKED",
      "net.proxy-port": "BLOCKED",
      "net.proxy-private": "BLOCKED",
      "net.interfaces": "BLOCKED",
      "net.public": "BLOCKED",
    })
    // Which of the names below a star there are, nobody knows.
    expect(Object.keys(found).filter((id) => id.includes("cdn"))).toEqual([])
    expect(Object.keys(expectations()).filter((id) => /proxy|allowed/.test(id))).toEqual([])
  })

  it("of a network of the engine: that it is there", () => {
    expect(expectations({ network: { dangerously: "bridge" } })).toMatchObject({
      "net.interfaces": "ALLOWED",
      "net.public": "ALLOWED",
      "net.neighbour": "ALLOWED",
      "sockets.abstract": "BLOCKED",
    })
    expect(expectations({ network: { dangerously: "host" } })).toMatchObject({
      "sockets.abstract": "ALLOWED",
    })
  })

  it("of capabilities: those it grants, of use to root alone", () => {
    expect(expectations({ capabilities: ["NET_RAW"] })).toMatchObject({
      "kernel.capability:NET_RAW": "ALLOWED",
      "kernel.capabilities": "BLOCKED",
      "net.raw": "BLOCKED",
    })
    expect(expectations({ capabilities: ["NET_RAW"], user: "0:0" })).toMatchObject({
      "net.raw": "ALLOWED",
      "kernel.root": "ALLOWED",
      "fs.make-device": "BLOCKED",
    })
  })

  it("of a seccomp profile: what ours refuses; of none that there is none; of another nothing", () => {
    const open = expectations({ seccomp: { dangerously: "unconfined" } })
    expect(open).toMatchObject({ "kernel.seccomp": "ALLOWED", "kernel.mount": "BLOCKED" })
    expect(open["kernel.trace"]).toBeUndefined()
    const root = { user: "0:0", capabilities: ["SYS_ADMIN"], seccomp: { profile: {} } }
    expect(expectations(root)["kernel.mount"]).toBeUndefined()
    expect(expectations({ ...root, seccomp: "strict" })["kernel.mount"]).toBe("BLOCKED")
  })

  it("of a writable root: that it can be written to", () => {
    expect(expectations({ readOnlyRoot: false })).toMatchObject({ "fs.write-root": "ALLOWED" })
  })

  it("of a session: that its files stay, and nothing else", () => {
    expect(expectations({}, { path: "session" })).toMatchObject({
      "life.residue-files": "ALLOWED",
      "life.residue-processes": "BLOCKED",
      "life.residue-environment": "BLOCKED",
      "life.used-once": "ALLOWED",
    })
  })

  it("of a kernel of its own: that it is not the host's", () => {
    const own = expectations({}, { hasOwnKernel: true, hostKernel: "6.1.0" })
    expect(own).toMatchObject({ "kernel.own-kernel": "BLOCKED" })
    expect(own["life.survivor-timeout"]).toBeUndefined()
    expect(expectations()["kernel.own-kernel"]).toBeUndefined()
  })

  it("lowers limits that are too wide to be tried out, and no others", () => {
    const memory = PROBES.find(({ id }) => id === "res.memory")
    if (memory?.how.kind !== "inside") throw new Error("res.memory does not run inside")
    expect(memory.how.limits(context())).toBeUndefined()
    const wide = context({ limits: { memory: "64GiB" } })
    expect(memory.how.limits(wide)).toEqual({ memory: 2 ** 30 })
    expect(memory.how.given(wide)).toEqual({ most: 2 ** 30 + 64 * 2 ** 20, shared: true })
  })
})
