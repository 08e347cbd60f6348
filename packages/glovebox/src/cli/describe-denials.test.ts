import { describe, expect, it } from "vitest"
import type { EgressConnection } from "../egress/index.ts"
import { describeDenials } from "./describe-denials.ts"

function connection(host: string, isDenied: boolean): EgressConnection {
  const fields = { id: 1, via: "connect", host, port: 443, bytesUp: 0, bytesDown: 0, durationMs: 1 } as const
  if (!isDenied) return { ...fields, verdict: "allowed" }
  return {
    ...fields,
    verdict: "denied",
    denial: {
      code: "NOT_ALLOWED",
      rule: undefined,
      resource: `${host}:443`,
      message: `${host}:443 is not in network.allow.`,
      suggestion: `Do without ${host}.`,
    },
  }
}

describe("describeDenials", () => {
  it("says each denial once, with what to do, and nothing of what was allowed", () => {
    const egress = [connection("a.test", true), connection("b.test", false), connection("a.test", true)]
    expect(describeDenials({ egress })).toEqual([
      "denied: a.test:443 is not in network.allow. Do without a.test.",
    ])
  })

  it("counts those that are too many to be read", () => {
    const egress = Array.from({ length: 8 }, (_, at) => connection(`host${at}.test`, true))
    expect(describeDenials({ egress }).length).toBe(6)
    expect(describeDenials({ egress }).at(-1)).toBe("denied: 3 more; --json lists them")
  })

  it("says nothing where there is no allow-list", () => {
    expect(describeDenials({})).toEqual([])
  })
})
