import { describe, expect, it } from "vitest"
import { describeTarget, isTarget, readAuthority, readEgressTarget } from "./egress-rule.ts"

function matches(rule: string, authority: string): boolean {
  const [target, asked] = [readEgressTarget(rule), readAuthority(authority)]
  if ("fault" in target) throw new Error(target.fault)
  return !("fault" in asked) && isTarget(target.target, asked.host, asked.port)
}

describe("readEgressTarget", () => {
  it.each([
    ["Example.com:443", "example.com:443"],
    ["*.Example.com:443", "*.example.com:443"],
    ["m\u00fcnchen.de:80", "xn--mnchen-3ya.de:80"],
    ["10.0.0.5:5432", "10.0.0.5:5432"],
    ["[2001:DB8::0:1]:443", "[2001:db8::1]:443"],
    ["localhost:65535", "localhost:65535"],
  ])("reads %s, and writes it in one way", (text, written) => {
    const read = readEgressTarget(text)
    expect("target" in read && describeTarget(read.target)).toBe(written)
  })

  it.each([
    ["*", /must be "host:port"/],
    ["example.com", /must be "host:port"/],
    ["example.com:", /must be "host:port"/],
    ["example.com:0", /must be "host:port"/],
    ["example.com:0443", /must be "host:port"/],
    ["example.com:443 ", /must be "host:port"/],
    ["example.com:https", /must be "host:port"/],
    ["example.com:65536", /above 65535/],
    ["*:443", /host has|host is|wildcard/],
    ["*.com:443", /wildcard/],
    ["*.10.0.0.1:443", /wildcard/],
    ["*.*.example.com:443", /host has|host is|wildcard/],
    ["a.*.example.com:443", /host has|host is|wildcard/],
    ["*example.com:443", /host has|host is|wildcard/],
    ["https://example.com:443", /host has|host is|wildcard/],
    ["user@example.com:443", /host has|host is|wildcard/],
    ["example.com.:443", /ends with a dot/],
    ["::1:443", /host has|host is|wildcard/],
    ["10.0.0.0/8:443", /host has|host is|wildcard/],
  ])("refuses %j", (text, fault) => {
    const read = readEgressTarget(text)
    expect("fault" in read ? read.fault : "").toMatch(fault)
  })
})

describe("isTarget", () => {
  it.each([
    ["example.com:443", "example.com:443", true],
    ["example.com:443", "EXAMPLE.com:443", true],
    ["example.com:443", "example.com:80", false],
    ["example.com:443", "www.example.com:443", false],
    ["example.com:443", "xexample.com:443", false],
    ["example.com:443", "example.com.evil.com:443", false],
    ["*.example.com:443", "a.example.com:443", true],
    ["*.example.com:443", "example.com:443", false],
    ["*.example.com:443", "a.b.example.com:443", false],
    ["*.example.com:443", "aexample.com:443", false],
    ["*.example.com:443", "a.example.com.evil.com:443", false],
    ["10.0.0.5:80", "10.0.0.5:80", true],
    ["10.0.0.5:80", "10.0.0.50:80", false],
    ["[::1]:80", "[0:0::1]:80", true],
    ["[::1]:80", "[::2]:80", false],
  ])("%s is for %s: %s", (rule, authority, isFor) => {
    expect(matches(rule, authority)).toBe(isFor)
  })
})

describe("readAuthority", () => {
  it.each([
    "a.com",
    "a.com:",
    "a.com:0",
    "a.com:65536",
    "a.com:99999",
    "a.com:080",
    "a.com:8x",
    ":80",
    "a.com:-1",
    "[::1]",
  ])("refuses %j", (text) => {
    expect(readAuthority(text)).toHaveProperty("fault")
  })
})
