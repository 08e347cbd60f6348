import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readHost, readWrittenHost } from "./host-name.ts"

const textOf = (reading: ReturnType<typeof readHost>): string | undefined =>
  "host" in reading ? reading.host.text : undefined

describe("readHost", () => {
  it.each([
    ["example.com", "example.com"],
    ["EXAMPLE.Com", "example.com"],
    ["a", "a"],
    ["a-b.1c", "a-b.1c"],
    ["xn--mnchen-3ya.de", "xn--mnchen-3ya.de"],
    ["192.0.2.1", "192.0.2.1"],
    ["[::1]", "::1"],
    ["[2001:DB8:0:0:0::1]", "2001:db8::1"],
    [`${"a".repeat(63)}.com`, `${"a".repeat(63)}.com`],
  ])("reads %s as %s", (text, host) => {
    expect(textOf(readHost(text))).toBe(host)
  })

  it.each([
    ["", /empty/],
    ["evil.com\0.example.com", /character/],
    ["exa mple.com", /character/],
    ["m\u00fcnchen.de", /character/],
    ["example\u3002com", /character/],
    ["example.com.", /ends with a dot/],
    [".example.com", /the part ""/],
    ["a..b", /the part ""/],
    ["-a.com", /the part "-a"/],
    ["a-.com", /the part "a-"/],
    ["a_b.com", /the part "a_b"/],
    ["*.example.com", /the part "\*"/],
    ["a@b.com", /the part "a@b"/],
    ["ex%61mple.com", /the part/],
    ["a.com:80", /the part/],
    ["a/b", /the part/],
    ["a\\b", /the part/],
    [`${"a".repeat(64)}.com`, /the part/],
    ["a.".repeat(126) + "com", /longer/],
    ["127.1", /looks like an address/],
    ["2130706433", /looks like an address/],
    ["0x7f.0.0.1", /looks like an address/],
    ["0x7f000001", /looks like an address/],
    ["a.0x", /looks like an address/],
    ["0177.0.0.1", /looks like an address/],
    ["127.0.0.01", /looks like an address/],
    ["1.2.3.4.5", /looks like an address/],
    ["256.1.1.1", /looks like an address/],
    ["xn--a", /IDNA/],
    ["xn--.com", /IDNA|the part/],
    ["::1", /the part/],
    ["[::1", /IPv6/],
    ["[::1]x", /IPv6/],
    ["[fe80::1%eth0]", /IPv6/],
    ["[fe80::1%25eth0]", /IPv6/],
    ["[127.0.0.1]", /IPv6/],
    ["[::ffff:127.0.0.1]", /write it as IPv4/],
    ["[0:0:0:0:0:ffff:7f00:1]", /write it as IPv4/],
  ])("refuses %j", (text, fault) => {
    const reading = readHost(text)
    expect("fault" in reading ? reading.fault : "").toMatch(fault)
  })

  it("reads what it has read in the same way", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.domain(),
          fc.ipV4(),
          fc.ipV6().map((text) => `[${text}]`),
          fc.string(),
        ),
        (text) => {
          const reading = readHost(text)
          if ("fault" in reading) return
          const { host } = reading
          const again = readHost(host.kind === "address" && host.version === 6 ? `[${host.text}]` : host.text)
          expect(again).toEqual(reading)
        },
      ),
      { seed: 5, numRuns: 300 },
    )
  })
})

describe("readWrittenHost", () => {
  it.each([
    ["M\u00fcnchen.de", "xn--mnchen-3ya.de"],
    ["b\u00fccher.example", "xn--bcher-kva.example"],
    ["example.com", "example.com"],
  ])("reads %s as %s", (text, host) => {
    expect(textOf(readWrittenHost(text))).toBe(host)
  })

  it.each([
    "\u2488com",
    "a\u200d\ufffd.com",
    "\u0661\u0662\u0667.0.0.1",
    "ex\u3002\u3002com",
    "m\u00fcnchen.de\u3002",
  ])("refuses %j", (text) => {
    expect(readWrittenHost(text)).toHaveProperty("fault")
  })

  it("never lets other letters become an address", () => {
    // Full-width digits are digits to IDNA.
    expect(textOf(readWrittenHost("\uff11\uff12\uff17.\uff10.\uff10.\uff11"))).not.toBe("127.0.0.1")
  })
})
