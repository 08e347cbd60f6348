import { describe, expect, it } from "vitest"
import { bridgeGateway } from "./bridge-gateway.ts"

describe("the gateway of a bridge", () => {
  it("is what the engine says", () => {
    const Config = [{ Subnet: "172.17.0.0/16", Gateway: "172.17.0.9" }]
    expect(bridgeGateway({ IPAM: { Config } })).toBe("172.17.0.9")
  })

  it("is the first address where the engine has just made the bridge, and names none", () => {
    expect(bridgeGateway({ IPAM: { Config: [{ Subnet: "172.17.0.0/16" }] } })).toBe("172.17.0.1")
    expect(bridgeGateway({ IPAM: { Config: [{ Subnet: "10.0.0.64/26" }] } })).toBe("10.0.0.65")
  })

  it("is of IPv4, whatever else there is", () => {
    const Config = [{ Subnet: "fd00::/64", Gateway: "fd00::1" }, { Subnet: "172.17.0.0/16" }]
    expect(bridgeGateway({ IPAM: { Config } })).toBe("172.17.0.1")
  })

  it("is unknown where there are no addresses", () => {
    expect([{}, { IPAM: { Config: null } }, { IPAM: { Config: [] } }].map(bridgeGateway)).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})
