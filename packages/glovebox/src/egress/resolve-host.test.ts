import { describe, expect, it, vi } from "vitest"
import { allowList } from "./egress-gate.test-kit.ts"
import { HostLookups } from "./host-lookups.ts"
import { resolveHost } from "./resolve-host.ts"
import { RuleBook } from "./rule-book.ts"

const book = new RuleBook(allowList({ allow: ["a.test:443"] }))

function resolve(found: unknown): Promise<readonly string[]> {
  return resolveHost({
    host: { kind: "name", text: "a.test", labels: ["a", "test"] },
    port: 443,
    rule: "a.test:443",
    lookups: new HostLookups(() => Promise.resolve(found as string[])),
    book: () => book,
    signal: new AbortController().signal,
  })
}

describe("resolveHost", () => {
  it("looks at some of many addresses, and for eight that it may dial", async () => {
    const looked = vi.spyOn(book, "addressFault")
    const open = Array.from({ length: 4000 }, (_, at) => `93.${at >> 8}.${at & 255}.7`)
    expect(await resolve(open)).toEqual(open.slice(0, 8))
    expect(looked).toHaveBeenCalledTimes(8)
    looked.mockClear()
    await expect(resolve(open.map((address) => address.replace("93", "10")))).rejects.toMatchObject({
      code: "PRIVATE_ADDRESS",
    })
    expect(looked.mock.calls.length).toBeLessThan(100)
    // The addresses of this machine are read once for all.
    expect(new Set(looked.mock.calls.map(([, , , own]) => own)).size).toBe(1)
    expect(looked.mock.calls[0]?.[3]).toBeInstanceOf(Set)
    looked.mockRestore()
  })

  it.each<[unknown]>([[null], [undefined], [{}], ["93.184.216.34"], [[null, {}, 5]], [[Symbol("x")]]])(
    "takes what is no list of addresses for none: %o",
    async (found) => {
      await expect(resolve(found)).rejects.toMatchObject({ code: "NAME_NOT_FOUND" })
    },
  )
})
