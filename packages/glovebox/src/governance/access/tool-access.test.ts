import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import type { AccessRequest } from "../../core/index.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { type AccessDenial, type AccessRule, ToolAccess } from "./index.ts"

const DENY_ALL = new SandboxPolicy()

function may(rules: readonly AccessRule[], request: AccessRequest): boolean {
  return new ToolAccess({ rules }).allows(request)
}

const tool = (agent: string, name: string): AccessRequest => ({ agent, kind: "tool", name })
const executor = (name: string, fields: Partial<AccessRequest> = {}): AccessRequest => ({
  agent: "coder",
  kind: "executor",
  name,
  policy: DENY_ALL,
  ...fields,
})

describe("ToolAccess", () => {
  it("allows everything while there is no rule, and only what a rule allows once there is one", () => {
    expect(may([], tool("anyone", "anything"))).toBe(true)
    const rules: AccessRule[] = [{ agents: "finder", tools: "search" }]
    expect(may(rules, tool("finder", "search"))).toBe(true)
    expect(may(rules, tool("finder", "delete"))).toBe(false)
    expect(may(rules, tool("coder", "search"))).toBe(false)
    // A tool of the name of an executor is no executor.
    expect(may(rules, { agent: "finder", kind: "executor", name: "search" })).toBe(false)
    expect(may([{ agents: "finder", executors: "docker" }], tool("finder", "docker"))).toBe(false)
  })

  it("takes several names, and stars", () => {
    const rules: AccessRule[] = [{ agents: ["finder", "web_*"], tools: ["search_*", "open"] }]
    expect(may(rules, tool("web_2", "search_news"))).toBe(true)
    expect(may(rules, tool("finder", "open"))).toBe(true)
    expect(may(rules, tool("finder", "reopen"))).toBe(false)
    expect(may(rules, tool("other_web_2", "open"))).toBe(false)
  })

  it("lets rules add up only whole: no half of one and half of another", () => {
    const rules: AccessRule[] = [
      { agents: "finder", tools: "search" },
      { agents: "coder", executors: "docker" },
    ]
    expect(may(rules, tool("coder", "search"))).toBe(false)
    expect(may(rules, { ...executor("docker"), agent: "finder" })).toBe(false)
  })

  it("holds an executor to a rule's policy in everything", () => {
    const rules: AccessRule[] = [{ agents: "coder", executors: "docker", policy: "deny-all" }]
    const withPolicy = (policy: SandboxPolicy): AccessRequest => executor("docker", { policy })
    expect(may(rules, executor("docker"))).toBe(true)
    expect(may(rules, withPolicy(new SandboxPolicy({ limits: { memory: "64MiB" } })))).toBe(true)
    for (const wider of [
      { network: { allow: ["example.com:443"] } },
      { limits: { memory: "1GiB" } },
      { user: "0:0" },
      { readOnlyRoot: false },
      { env: { A: "b" } },
      { mounts: [{ source: "/srv/data", target: "/data", mode: "ro" as const }] },
    ]) {
      const policy = new SandboxPolicy(wider)
      expect(may(rules, withPolicy(policy))).toBe(false)
      const rule = { agents: "coder", executors: "docker" }
      expect(may([{ ...rule, policy: wider }], withPolicy(policy))).toBe(true)
      expect(may([{ ...rule, policy }], withPolicy(policy))).toBe(true)
      expect(may([rule], withPolicy(policy))).toBe(true)
    }
  })

  it("can want one policy by its hash", () => {
    const policy = new SandboxPolicy({ limits: { memory: "64MiB" } })
    const rules: AccessRule[] = [{ agents: "coder", executors: "*", policy: policy.sha256 }]
    expect(may(rules, executor("docker", { policy }))).toBe(true)
    expect(may(rules, executor("docker"))).toBe(false)
  })

  it("takes nothing for a sandbox with that policy that is none", () => {
    const rules: AccessRule[] = [{ agents: "coder", executors: "*", policy: "deny-all" }]
    expect(may(rules, executor("docker", { policy: undefined }))).toBe(false)
    expect(may(rules, executor("docker", { policy: { sha256: DENY_ALL.sha256 } }))).toBe(false)
    expect(may(rules, executor("docker", { beyondPolicy: [{ path: "deviceRequests", to: "gpu" }] }))).toBe(
      false,
    )
    expect(may(rules, executor("local"))).toBe(false)
    expect(may([{ agents: "coder", executors: "local" }], executor("local"))).toBe(true)
  })

  it("says who may not use what, and which rules came near", async () => {
    const access = new ToolAccess({
      rules: [
        { agents: "coder", executors: "docker", policy: "deny-all" },
        { agents: "coder", tools: "search_*" },
        { agents: "admin", tools: "delete" },
      ],
    })
    const message = async (request: AccessRequest): Promise<string> =>
      (await expectFailure(access.authorize(request), "ACCESS_DENIED")).message
    expect(await message(tool("coder", "delete"))).toBe(
      'Agent "coder" may not use the tool "delete": rules[0] allows this agent other things, ' +
        "rules[1] allows this agent other things, rules[2] allows it to other agents; " +
        "do not try it again, and if it should be allowed, whoever runs the agent adds a rule for it.",
    )
    const policy = new SandboxPolicy({ network: { allow: ["example.com:443"] }, user: "0:0" })
    expect(await message(executor("docker", { policy }))).toMatch(
      /rules\[0\] allows it only within its policy, which this one exceeds \(network[^)]*, user\)/,
    )
    expect(await message(executor("docker", { policy: undefined }))).toContain("(its policy is not known)")
    expect(await message(tool("guest", "x"))).toContain('"x": no rule is about either;')
  })

  it("tells of a denial before it refuses, and of nothing else", async () => {
    const told: AccessDenial[] = []
    const access = new ToolAccess({
      rules: [{ agents: "a", tools: "t" }],
      onDenial: async (denial) => {
        await Promise.resolve()
        told.push(denial)
      },
    })
    await access.authorize(tool("a", "t"))
    expect(access.allows(tool("b", "t"))).toBe(false)
    expect(told).toEqual([])
    const request = { ...executor("docker"), agent: "b", agentType: "type_b" }
    const { message } = await expectFailure(access.authorize(request), "ACCESS_DENIED")
    const { sha256: policySha256 } = DENY_ALL
    const denial = {
      agent: "b",
      agentType: "type_b",
      kind: "executor",
      name: "docker",
      policySha256,
      message,
    }
    expect(told).toEqual([denial])
  })

  it.each([
    [
      "throws",
      () => {
        throw new Error("full disk")
      },
    ],
    [
      "rejects",
      async () => {
        throw new Error("full disk")
      },
    ],
  ])("refuses also when whoever is told %s", async (_how, onDenial) => {
    const access = new ToolAccess({ rules: [{ agents: "a", tools: "t" }], onDenial })
    const { cause } = await expectFailure(access.authorize(tool("b", "t")), "ACCESS_DENIED")
    expect(cause).toMatchObject({ message: "full disk" })
  })

  it("waits for nobody longer than its signal says", async () => {
    const left = new AbortController()
    const access = new ToolAccess({
      rules: [{ agents: "a", tools: "t" }],
      onDenial: () => new Promise(() => left.abort(new Error("left"))),
    })
    await expect(access.authorize(tool("b", "t"), { signal: left.signal })).rejects.toThrow("left")
  })

  it.each([
    [{ agents: "a" }, "rules.0: allows nothing: name tools or executors"],
    [{ agents: [], tools: "t" }, "rules.0.agents"],
    [{ agents: "a", tools: "" }, "rules.0.tools"],
    [{ agents: "a", tool: "t" }, "tool"],
    [
      { agents: "a", tools: "t", policy: "deny-all" },
      "has a policy, which is about executors, and names none",
    ],
    [
      { agents: "a", executors: "docker", policy: "deny" },
      'rules.0.policy: is no policy: pass its fields, "deny-all"',
    ],
    [{ agents: "a", executors: "docker", policy: { netwrk: "none" } }, "netwrk"],
  ])("refuses the rule %j", (rule, message) => {
    const refusal = failureOf(() => new ToolAccess({ rules: [rule as AccessRule] }))
    expect(refusal).toMatch(/^OPTION_INVALID: The options of ToolAccess/)
    expect(refusal).toContain(message)
  })
})
