import { networkInterfaces } from "node:os"
import { describe, expect, it } from "vitest"
import { canonicalAddress, ownAddresses, specialAddress } from "./address-class.ts"

describe("specialAddress", () => {
  it.each([
    ["0.0.0.0", "0.255.255.255"],
    ["10.0.0.0", "10.255.255.255"],
    ["100.64.0.0", "100.127.255.255"],
    ["127.0.0.0", "127.255.255.255"],
    ["168.63.129.16", "168.63.129.16"],
    ["169.254.0.0", "169.254.169.254"],
    ["172.16.0.0", "172.31.255.255"],
    ["192.0.0.0", "192.0.0.192"],
    ["192.0.2.0", "192.0.2.255"],
    ["192.88.99.0", "192.88.99.255"],
    ["192.168.0.0", "192.168.255.255"],
    ["198.18.0.0", "198.19.255.255"],
    ["198.51.100.0", "198.51.100.255"],
    ["203.0.113.0", "203.0.113.255"],
    ["224.0.0.0", "239.255.255.255"],
    ["240.0.0.0", "255.255.255.255"],
    ["::", "::1"],
    ["::7f00:1", "::a00:1"],
    ["64:ff9b::808:808", "64:ff9b:1::808:808"],
    ["100::", "100::1"],
    ["1fff:ffff::", "4000::"],
    ["2001::", "2001:1ff:ffff::"],
    ["2001:db8::", "2001:db8:ffff::"],
    ["2002::", "2002:808:808::1"],
    ["3fff::", "3fff:fff::"],
    ["fc00::", "fdff::1"],
    ["fd00:ec2::254", "fec0::1"],
    ["fe80::", "febf::1"],
    ["ff00::", "ff02::1"],
  ])("knows what %s and %s are", (first, last) => {
    expect(specialAddress(first)).toMatch(/^(?:an?|the) /)
    expect(specialAddress(last)).toMatch(/^(?:an?|the) /)
  })

  it.each([
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "168.63.129.15",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2001:200::",
    "2606:4700::1111",
    "2003::",
    "3ffe::",
  ])("takes %s for public", (address) => {
    expect(specialAddress(address)).toBeUndefined()
  })

  it("knows the addresses of this machine, also when they are public", () => {
    const more = { netmask: "", mac: "", internal: false, cidr: null }
    const interfaces = ownAddresses({
      eth0: [
        { ...more, family: "IPv4", address: "1.1.1.1" },
        { ...more, family: "IPv6", scopeid: 0, address: "2606:4700:0::1" },
      ],
      eth1: undefined,
    })
    expect(specialAddress("1.1.1.1", interfaces)).toBe("an address of this machine")
    expect(specialAddress("2606:4700::1", interfaces)).toBe("an address of this machine")
    expect(specialAddress("1.1.1.2", interfaces)).toBeUndefined()
    const own = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
    for (const { address } of own) expect(specialAddress(canonicalAddress(address) ?? "::")).toBeDefined()
  })
})

describe("canonicalAddress", () => {
  it.each([
    ["1.2.3.4", "1.2.3.4"],
    ["2001:DB8:0:0::1", "2001:db8::1"],
    ["::ffff:1.2.3.4", undefined],
    ["::ffff:0102:0304", undefined],
    ["0:0:0:0:0:ffff:1.2.3.4", undefined],
    ["fe80::1%eth0", undefined],
    ["01.2.3.4", undefined],
    ["1.2.3", undefined],
    ["localhost", undefined],
    ["", undefined],
  ])("makes of %j %j", (text, address) => {
    expect(canonicalAddress(text)).toBe(address)
  })
})
