import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { type PolicyInput, SandboxPolicy, describeRule } from "./index.ts"

type Network = PolicyInput["network"]

const network = (input: Network): unknown => new SandboxPolicy({ network: input }).fields.network
const message = (input: unknown): string => failureOf(() => new SandboxPolicy({ network: input as Network }))

describe("network.allow", () => {
  it("is read with its defaults, in one order, each rule in one way", () => {
    expect(
      network({
        allow: [
          { to: "b.com:443", methods: ["POST", "GET", "GET"], paths: ["/b", "/a"], up: "1MiB", down: 5 },
          { to: "M\u00fcnchen.de:443" },
          "a.com:443",
          "A.com:443",
        ],
        allowPrivate: ["10.0.0.5:5432", "10.0.0.5:5432"],
      }),
    ).toEqual({
      allow: [
        "a.com:443",
        "xn--mnchen-3ya.de:443",
        {
          to: "b.com:443",
          protocol: "web",
          methods: ["GET", "POST"],
          paths: ["/a", "/b"],
          up: 1_048_576,
          down: 5,
        },
      ],
      allowPrivate: ["10.0.0.5:5432"],
      connections: 256,
      idle: 60_000,
    })
  })

  it("may be left out where allowPrivate is not", () => {
    expect(network({ allowPrivate: ["127.0.0.1:80"] })).toMatchObject({
      allow: [],
      allowPrivate: ["127.0.0.1:80"],
    })
  })

  it.each<[input: unknown, message: RegExp]>([
    [{ allow: [] }, /an empty list allows nothing/],
    [{ allow: [], allowPrivate: [] }, /an empty list allows nothing/],
    [{}, /./],
    [{ allow: ["*"] }, /network\.allow\.0: .*must be "host:port" or "\*\.host:port"/],
    [{ allow: ["a.com:443", "evil.com\0.a.com:443"] }, /network\.allow\.1: .*no host name has/],
    [{ allow: ["127.1:80"] }, /looks like an address/],
    [{ allow: [{ to: "a.com" }] }, /network\.allow\.0\.to: .*host:port/],
    [{ allow: [{ to: "a.com:443", methods: [] }] }, /network\.allow\.0\.methods/],
    [{ allow: [{ to: "a.com:443", methods: ["get"] }] }, /must be a method such as "GET"/],
    [{ allow: [{ to: "a.com:443", paths: ["simple"] }] }, /must begin with a slash/],
    [{ allow: [{ to: "a.com:443", paths: ["/a/../b"] }] }, /must begin with a slash and be plain/],
    [{ allow: [{ to: "a.com:443", paths: ["/a%2fb"] }] }, /must begin with a slash and be plain/],
    [{ allow: [{ to: "a.com:443", paths: ["//a"] }] }, /must begin with a slash and be plain/],
    [{ allow: [{ to: "a.com:443", paths: ["/a?b"] }] }, /must begin with a slash and be plain/],
    [{ allow: [{ to: "a.com:443", protocol: "udp" }] }, /network\.allow\.0\.protocol/],
    [
      { allow: [{ to: "a.com:443", protocol: "tcp", methods: ["GET"] }] },
      /must be web for a rule with methods/,
    ],
    [{ allow: [{ to: "a.com:443", up: 0 }] }, /network\.allow\.0\.up: .*outside/],
    [{ allow: ["a.com:443"], allowPrivate: ["10.0.0.0/8:80"] }, /network\.allowPrivate\.0: /],
    [{ allow: ["a.com:443"], allowPrivate: ["*.corp.com:80"] }, /network\.allowPrivate\.0: .*one service/],
    [{ allow: ["a.com:443"], connections: 0 }, /network\.connections/],
    [{ allow: ["a.com:443"], idle: "1ms" }, /network\.idle: .*outside/],
    [{ allow: ["a.com:443"], idel: "1s" }, /did you mean "idle"/],
    [{ allow: ["a.com:443"], dangerously: "bridge" }, /network/],
  ])("refuses %j, and says why", (input, text) => {
    expect(message(input)).toMatch(text)
  })
})

describe("a change of network.allow", () => {
  const diff = (before: Network, after: Network): string[] =>
    new SandboxPolicy({ network: after })
      .diff(new SandboxPolicy({ network: before }))
      .map(({ path, effect }) => `${path} ${effect}`)

  it.each<[what: string, before: Network, after: Network, changes: string[]]>([
    ["none becomes a list", "none", { allow: ["a.com:1"] }, ["network widens"]],
    [
      "a budget becomes two",
      { allow: [{ to: "*.a.com:1", up: 10 }] },
      {
        allow: [
          { to: "b.a.com:1", up: 10 },
          { to: "c.a.com:1", up: 10 },
        ],
      },
      ["network.allow narrows", "network.allow widens", "network.allow widens"],
    ],
    ["a list becomes none", { allow: ["a.com:1"] }, "none", ["network narrows"]],
    ["the same is written otherwise", { allow: ["A.com:1"] }, { allow: [{ to: "a.com:1" }] }, []],
    [
      "a wildcard becomes one name",
      { allow: ["*.a.com:1"] },
      { allow: ["x.a.com:1"] },
      ["network.allow narrows", "network.allow narrows"],
    ],
    [
      "one name becomes a wildcard",
      { allow: ["x.a.com:1"] },
      { allow: ["*.a.com:1"] },
      ["network.allow widens", "network.allow narrows"],
    ],
    [
      "a rule gets methods",
      { allow: ["a.com:1"] },
      { allow: [{ to: "a.com:1", methods: ["GET"] }] },
      ["network.allow narrows", "network.allow narrows"],
    ],
    [
      "a rule loses its paths",
      { allow: [{ to: "a.com:1", paths: ["/x"] }] },
      { allow: ["a.com:1"] },
      ["network.allow widens", "network.allow narrows"],
    ],
    [
      "a path becomes longer",
      { allow: [{ to: "a.com:1", paths: ["/x"] }] },
      { allow: [{ to: "a.com:1", paths: ["/x/y"] }] },
      ["network.allow narrows", "network.allow narrows"],
    ],
    [
      "a path with a bar becomes two",
      { allow: [{ to: "a.com:1", paths: ["/x|/"] }] },
      { allow: [{ to: "a.com:1", paths: ["/x", "/"] }] },
      ["network.allow widens", "network.allow narrows"],
    ],
    [
      "a path with words of a rule becomes one with these",
      { allow: [{ to: "a.com:1", paths: ['/x",up'] }] },
      { allow: [{ to: "a.com:1", paths: ["/x"], up: 5 }] },
      ["network.allow widens", "network.allow narrows"],
    ],
    [
      "a budget grows",
      { allow: [{ to: "a.com:1", up: 5 }] },
      { allow: [{ to: "a.com:1", up: 6 }] },
      ["network.allow widens", "network.allow narrows"],
    ],
    [
      "web becomes tcp",
      { allow: ["a.com:1"] },
      { allow: [{ to: "a.com:1", protocol: "tcp" }] },
      ["network.allow widens", "network.allow narrows"],
    ],
    [
      "tcp becomes web",
      { allow: [{ to: "a.com:1", protocol: "tcp" }] },
      { allow: ["a.com:1"] },
      ["network.allow narrows", "network.allow narrows"],
    ],
    [
      "a private service is added",
      { allow: ["a.com:1"] },
      { allow: ["a.com:1"], allowPrivate: ["10.0.0.1:1"] },
      ["network.allowPrivate widens"],
    ],
    [
      "limits change",
      { allow: ["a.com:1"] },
      { allow: ["a.com:1"], connections: 300, idle: "30s" },
      ["network.connections widens", "network.idle narrows"],
    ],
  ])("is told when %s", (_what, before, after, changes) => {
    expect(diff(before, after).toSorted()).toEqual(changes.toSorted())
  })
})

describe("describeRule", () => {
  const part = fc.constantFrom("/", "|", ",", '"', "(", ")", "a", "GET", "up", "5B")
  const path = fc.array(part, { maxLength: 4 }).map((parts) => `/a${parts.join("")}`)
  const rule = fc.record(
    {
      to: fc.constant("a.com:1"),
      protocol: fc.constant("web" as const),
      methods: fc.uniqueArray(fc.constantFrom("GET", "UP"), { minLength: 1 }),
      paths: fc.uniqueArray(path, { minLength: 1, maxLength: 3 }),
      up: fc.constantFrom(5, 1024),
    },
    { requiredKeys: ["to", "protocol"] },
  )

  it("has other words for another rule", () => {
    fc.assert(
      fc.property(rule, rule, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other))
        expect(describeRule(one)).not.toBe(describeRule(other))
      }),
      { seed: 5, numRuns: 300 },
    )
    expect(describeRule({ to: "a.com:1", protocol: "web", paths: ["/a|/"] })).toBe('a.com:1 ("/a|/")')
    expect(describeRule({ to: "a.com:1", protocol: "web", paths: ["/a", "/"] })).toBe('a.com:1 ("/a"|"/")')
  })
})
