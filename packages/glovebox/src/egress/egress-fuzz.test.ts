import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ChunkedDecoder, encodeChunk } from "./chunked-decoder.ts"
import { readClientHello } from "./client-hello.ts"
import { allowList } from "./egress-gate.test-kit.ts"
import { EgressGate } from "./index.ts"
import { MemoryClient } from "./memory-client.test-kit.ts"
import { Refusal } from "./refusal.ts"
import { hello, record, sni } from "./tls-hello.test-kit.ts"

const seed = 20_261_116
const latin = (text: string): Buffer => Buffer.from(text, "latin1")

const REQUESTS = [
  latin("CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test:443\r\n\r\n"),
  latin("POST http://allowed.test/a HTTP/1.1\r\nHost: allowed.test\r\nContent-Length: 3\r\n\r\nabc"),
  Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 3, 12]), latin("allowed.test"), Buffer.from([1, 187])]),
  Buffer.from([5, 1, 0, 5, 1, 0, 1, 192, 0, 2, 1, 1, 187]),
  Buffer.from([4, 1, 1, 187, 192, 0, 2, 1, 0]),
]

const NETWORK = allowList({ allow: ["allowed.test:443", "allowed.test:80"] })

const cuts = fc.array(fc.nat(200), { maxLength: 6 })
const edits = fc.array(
  fc.record({ at: fc.nat(200), drop: fc.nat(2), put: fc.uint8Array({ maxLength: 3 }) }),
  {
    maxLength: 4,
  },
)

function edited(bytes: Buffer, list: readonly { at: number; drop: number; put: Uint8Array }[]): Buffer {
  let result = bytes
  for (const { at, drop, put } of list) {
    const place = at % (result.length + 1)
    result = Buffer.concat([result.subarray(0, place), put, result.subarray(place + drop)])
  }
  return result
}

/** What the gate answers, and which names it went to look for: one that is allowed is never found. */
async function decide(
  bytes: Buffer,
  places: readonly number[],
): Promise<{ answer: string; names: string[] }> {
  const names: string[] = []
  using gate = new EgressGate({
    network: NETWORK,
    lookup: (name) => {
      names.push(name)
      return Promise.reject(new Error("not here"))
    },
    onEvent: () => {},
  })
  const client = MemoryClient.of(bytes, places)
  gate.accept(client)
  await client.gone
  const { connections } = gate.records()
  expect(connections.every(({ ended, verdict }) => ended !== undefined && verdict === "denied")).toBe(true)
  return { answer: client.received, names }
}

describe("EgressGate, given anything", () => {
  it("decides the same however the request is cut", async () => {
    const whole = await Promise.all(REQUESTS.map((request) => decide(request, [])))
    await fc.assert(
      fc.asyncProperty(fc.nat(REQUESTS.length - 1), cuts, async (at, places) => {
        expect(await decide(REQUESTS[at]!, places)).toEqual(whole[at])
      }),
      { seed, numRuns: 60 },
    )
  })

  it("ends every client, and goes to no name but the allowed one", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(REQUESTS.length - 1), edits, cuts, async (at, list, places) => {
        const { names } = await decide(edited(REQUESTS[at]!, list), places)
        expect(names.filter((name) => name !== "allowed.test")).toEqual([])
      }),
      { seed, numRuns: 250 },
    )
  })

  it("ends a client of random bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), cuts, async (bytes, places) => {
        expect((await decide(Buffer.from(bytes), places)).names).toEqual([])
      }),
      { seed, numRuns: 60 },
    )
  })
})

describe("readClientHello", () => {
  const MESSAGE = hello([[16, latin("\0\x03\x02h2")], sni("allowed.test")]).subarray(5)

  it("reads the same from any records, and always asks for more than it has", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(MESSAGE.length), { maxLength: 8 }), (list) => {
        const places = [...new Set([0, ...list])].toSorted((a, b) => a - b)
        const fragments = places.map((from, at) => MESSAGE.subarray(from, places[at + 1] ?? MESSAGE.length))
        const bytes = Buffer.concat(fragments.filter(({ length }) => length > 0).map(record))
        expect(readClientHello(bytes)).toEqual({ hello: { names: ["allowed.test"], isEncrypted: false } })
        const parts = Array.from(bytes, (_, length) => readClientHello(bytes.subarray(0, length)))
        expect(parts.every((read, length) => "needs" in read && read.needs > length)).toBe(true)
      }),
      { seed, numRuns: 10 },
    )
  })

  it("never throws, and takes nothing for a name that is not in it", () => {
    fc.assert(
      fc.property(edits, (list) => {
        const bytes = edited(record(MESSAGE), list)
        const read = readClientHello(bytes)
        if (!("hello" in read)) return
        for (const name of read.hello.names ?? []) expect(bytes.includes(latin(name))).toBe(true)
      }),
      { seed, numRuns: 1000 },
    )
  })
})

describe("ChunkedDecoder", () => {
  const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 6 })

  const run = (bytes: Buffer, places: readonly number[]): { data: Buffer; rest: Buffer | undefined } => {
    const decoder = new ChunkedDecoder()
    const sorted = [...new Set([0, ...places.map((place) => place % (bytes.length + 1))])].toSorted(
      (a, b) => a - b,
    )
    const data: Buffer[] = []
    for (const [at, from] of sorted.entries()) {
      const decoded = decoder.decode(bytes.subarray(from, sorted[at + 1] ?? bytes.length))
      data.push(...decoded.data)
      if (decoded.rest) return { data: Buffer.concat(data), rest: decoded.rest }
    }
    return { data: Buffer.concat(data), rest: undefined }
  }

  it("gives back what was encoded, however it is cut, and leaves what comes after", () => {
    fc.assert(
      fc.property(pieces, cuts, (list, places) => {
        const chunks = list.map((piece) => encodeChunk([Buffer.from(piece)]))
        const bytes = Buffer.concat([...chunks, latin("0\r\n\r\nafter")])
        const { data } = run(bytes, places)
        expect(data).toEqual(Buffer.concat(list))
        expect(run(bytes, []).rest).toEqual(latin("after"))
      }),
      { seed, numRuns: 200 },
    )
  })

  const isRefusedOr = (check: () => boolean): boolean => {
    try {
      return check()
    } catch (error) {
      return error instanceof Refusal
    }
  }

  it("refuses, and throws nothing else", () => {
    fc.assert(
      fc.property(pieces, edits, cuts, (list, changes, places) => {
        const chunks = list.map((piece) => encodeChunk([Buffer.from(piece)]))
        const bytes = edited(Buffer.concat([...chunks, latin("0\r\nX: 1\r\n\r\n")]), changes)
        expect(isRefusedOr(() => run(bytes, places).data.length <= bytes.length)).toBe(true)
      }),
      { seed, numRuns: 500 },
    )
  })
})
