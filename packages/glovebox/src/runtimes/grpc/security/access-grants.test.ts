import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { typePrefixSubscription, typeSubscription } from "../../../core/index.ts"
import { AccessGrants, type Admission, type Authenticate } from "./access-grants.ts"
import type { Grant } from "./grant.ts"
import type { TokenGrant } from "./tokens.ts"

const acme: TokenGrant = {
  token: "acme-secret",
  name: "acme",
  register: ["echo", "team.*"],
  publish: ["news", "acme:*"],
  subscribe: ["news", "acme:*"],
  send: ["echo"],
}
const other: TokenGrant = {
  tokenHash: createHash("sha256").update("other-secret").digest("hex").toUpperCase(),
  name: "other",
}

function grantOf(admission: Admission): Grant {
  if ("grant" in admission) return admission.grant
  return expect.fail(`refused: ${admission.reason}`)
}

async function admitted(grants: AccessGrants, token: string, clientId = "worker-1"): Promise<Grant> {
  return grantOf(await grants.authenticate(`Bearer ${token}`, clientId))
}

describe("a grant", () => {
  const grants = new AccessGrants({ tokens: [acme, other] })

  it("allows the names that it has, and those that begin as its patterns do", async () => {
    const grant = await admitted(grants, "acme-secret")
    expect(grant.name).toBe("acme")
    expect(["echo", "team.", "team.coder"].filter((type) => grant.mayRegister(type))).toHaveLength(3)
    expect(["news", "acme:orders"].filter((type) => grant.mayPublish(type))).toHaveLength(2)
    expect(["news", "acme:orders"].filter((type) => grant.maySubscribe(type))).toHaveLength(2)
    expect(grant.maySend("echo")).toBe(true)
  })

  it("denies every other name", async () => {
    const grant = await admitted(grants, "acme-secret")
    expect(
      ["echo2", "Echo", "ech", "team", "xteam.a", "*"].filter((type) => grant.mayRegister(type)),
    ).toEqual([])
    expect(["news.flash", "acme", "*"].filter((type) => grant.mayPublish(type))).toEqual([])
    expect(["newsflash", "default"].filter((type) => grant.maySubscribe(type))).toEqual([])
    expect(grant.maySend("team.coder")).toBe(false)
  })

  it("without scopes allows nothing", async () => {
    const grant = await admitted(grants, "other-secret", "worker-2")
    expect([grant.mayRegister("echo"), grant.mayPublish("news"), grant.maySubscribe("news")]).not.toContain(
      true,
    )
    expect(grant.maySend("echo")).toBe(false)
  })

  it("allows a prefix only where it allows every topic with it", async () => {
    const grant = await admitted(grants, "acme-secret")
    expect(["acme:", "acme:orders"].filter((prefix) => grant.maySubscribePrefix(prefix))).toHaveLength(2)
    // "news" is one topic, and its prefix would be many; "acme" is the prefix of acmeister too.
    expect(["news", "acme", "a", ""].filter((prefix) => grant.maySubscribePrefix(prefix))).toEqual([])
  })

  it("subscribes only agents that may be registered", async () => {
    const grant = await admitted(grants, "acme-secret")
    expect(grant.mayAddSubscription(typeSubscription("news", "echo"))).toBe(true)
    expect(grant.mayAddSubscription(typeSubscription("news", "victim"))).toBe(false)
    expect(grant.mayAddSubscription(typeSubscription("secrets", "echo"))).toBe(false)
    expect(grant.mayAddSubscription(typePrefixSubscription("acme:", "echo"))).toBe(true)
    expect(grant.mayAddSubscription(typePrefixSubscription("ac", "echo"))).toBe(false)
  })

  it("lets an agent type have the channel of its own name", async () => {
    const grant = await admitted(grants, "acme-secret")
    expect(grant.mayAddSubscription(typePrefixSubscription("echo:", "echo"))).toBe(true)
    expect(grant.mayAddSubscription(typePrefixSubscription("echo", "echo"))).toBe(false)
    expect(grant.mayAddSubscription(typePrefixSubscription("echo:", "team.a"))).toBe(false)
    expect(grant.mayAddSubscription(typePrefixSubscription("victim:", "victim"))).toBe(false)
  })
})

describe("a token", () => {
  it.each([
    ["none", undefined, "The host asks for a token."],
    ["another", "Bearer acme-secreT", "The host does not know this token."],
    ["an empty one", "Bearer ", "The host asks for a token."],
    ["another scheme", "Basic acme-secret", "The host asks for a token."],
    ["the hash in its place", `Bearer ${other.tokenHash}`, "The host does not know this token."],
  ])("is asked for: %s is refused", async (_name, header, reason) => {
    const grants = new AccessGrants({ tokens: [acme, other] })
    expect(await grants.authenticate(header, "worker-1")).toEqual({ refusal: "UNAUTHENTICATED", reason })
  })

  it("is not asked for where none was set, and all is allowed", async () => {
    const grant = grantOf(await new AccessGrants().authenticate(undefined, "worker-1"))
    expect(grant.mayRegister("anything") && grant.mayPublish("anything") && grant.maySend("x")).toBe(true)
    expect(grant.mayAddSubscription(typePrefixSubscription("a", "b"))).toBe(true)
  })

  it("keeps its client ids from other tokens until they are released", async () => {
    const grants = new AccessGrants({ tokens: [acme, other] })
    await admitted(grants, "acme-secret")
    await admitted(grants, "acme-secret")
    expect(await grants.authenticate("Bearer other-secret", "worker-1")).toEqual({
      refusal: "PERMISSION_DENIED",
      reason: "This client id belongs to another token.",
    })
    grants.release("worker-1")
    expect((await admitted(grants, "other-secret")).name).toBe("other")
    expect(await grants.authenticate("Bearer acme-secret", "worker-1")).toHaveProperty("refusal")
  })

  it("can be for one client id", async () => {
    const grants = new AccessGrants({ tokens: [{ ...acme, clientId: "worker-7" }] })
    expect(await grants.authenticate("Bearer acme-secret", "worker-1")).toEqual({
      refusal: "PERMISSION_DENIED",
      reason: "This token is for another client id.",
    })
    expect((await admitted(grants, "acme-secret", "worker-7")).name).toBe("acme")
  })

  it("has a bound number of client ids", async () => {
    const grants = new AccessGrants({ tokens: [acme] })
    for (let id = 0; id < 4096; id += 1) await grants.authenticate("Bearer acme-secret", `worker-${id}`)
    expect(await grants.authenticate("Bearer acme-secret", "one-more")).toHaveProperty(
      "refusal",
      "RESOURCE_EXHAUSTED",
    )
    grants.release("worker-5")
    expect((await admitted(grants, "acme-secret", "one-more")).name).toBe("acme")
  })
})

describe("a check of one's own", () => {
  it("says what the holder may do", async () => {
    const asked: unknown[] = []
    const authenticate: Authenticate = (token, clientId) => {
      asked.push([token, clientId])
      return token === "good" ? { name: "checked", register: ["echo"] } : undefined
    }
    const grants = new AccessGrants({ authenticate })
    expect((await admitted(grants, "good")).mayRegister("echo")).toBe(true)
    expect(await grants.authenticate(undefined, "worker-2")).toHaveProperty("refusal", "UNAUTHENTICATED")
    expect(asked).toEqual([
      ["good", "worker-1"],
      [undefined, "worker-2"],
    ])
    // Bound as with tokens of the host's own.
    const both = new AccessGrants({ authenticate: async () => ({ name: "anyone" }) })
    await admitted(both, "first")
    expect(await both.authenticate("Bearer second", "worker-1")).toHaveProperty(
      "refusal",
      "PERMISSION_DENIED",
    )
  })

  it.each([
    ["throws", () => Promise.reject(new Error("the database is away"))],
    ["answers what is no grant", () => ({ name: "x", register: ["a*b"] })],
  ])("refuses when it %s", async (_name, authenticate) => {
    const grants = new AccessGrants({ authenticate })
    expect(await grants.authenticate("Bearer good", "worker-1")).toHaveProperty("refusal", "UNAUTHENTICATED")
  })
})

describe("tokens that are not valid", () => {
  it.each<[string, readonly unknown[], RegExp]>([
    ["a star in the middle", [{ ...acme, register: ["a*b"] }], /tokens\.0\.register\.0: is not a pattern/],
    ["two stars", [{ ...acme, publish: ["a**"] }], /tokens\.0\.publish\.0: is not a pattern/],
    ["an empty pattern", [{ ...acme, subscribe: [""] }], /tokens\.0\.subscribe\.0: is not a pattern/],
    ["no token", [{ name: "x" }], /either token or tokenHash/],
    ["both", [{ ...acme, ...other }], /either token or tokenHash/],
    ["a hash that is none", [{ name: "x", tokenHash: "abc" }], /SHA-256/],
    ["what a header cannot have", [{ name: "x", token: "my secret" }], /no bearer token/],
    ["one twice", [acme, { ...acme, name: "again" }], /one token twice/],
    ["an unknown scope", [{ ...acme, subscribes: ["x"] }], /subscribes/],
    ["none at all", [], /is empty/],
  ])("are refused without being shown: %s", async (_name, tokens, message) => {
    const make = async (): Promise<unknown> => new AccessGrants({ tokens: tokens as readonly TokenGrant[] })
    const failure = await expectFailure(make(), "OPTION_INVALID", message)
    expect(failure.message).not.toContain("secret")
  })
})
