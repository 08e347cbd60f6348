import { Refusal } from "./refusal.ts"
import { type RequestHead, membersOf, valuesOf } from "./request-head.ts"

/** Where the body of a request ends. */
export type RequestFraming =
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" }

const LENGTH = /^(?:0|[1-9]\d{0,14})$/
// A request that has these taken away on its way would end elsewhere, or be another's.
const NEVER_HOP_BY_HOP = ["host", "content-length", "transfer-encoding"]

/** Reads the one way in which the body is framed. Throws Refusal. */
export function readFraming(head: RequestHead): RequestFraming {
  const [encodings, lengths] = [valuesOf(head, "transfer-encoding"), valuesOf(head, "content-length")]
  if (membersOf(head, "connection").some((name) => NEVER_HOP_BY_HOP.includes(name)))
    throw smuggling("names a header in Connection that belongs to the request")
  if (encodings.length === 0) {
    if (lengths.length === 0) return { kind: "length", length: 0 }
    if (lengths.length > 1) throw smuggling("has several Content-Length headers")
    if (!LENGTH.test(lengths[0]!)) throw smuggling("has a Content-Length that is not one plain number")
    return { kind: "length", length: Number(lengths[0]) }
  }
  if (lengths.length > 0) throw smuggling("has both Content-Length and Transfer-Encoding")
  if (encodings.length > 1 || encodings[0]!.toLowerCase() !== "chunked")
    throw smuggling("has a Transfer-Encoding other than chunked")
  if (head.version === "1.0") throw smuggling("has a Transfer-Encoding, which HTTP/1.0 does not know")
  return { kind: "chunked" }
}

export function smuggling(what: string): Refusal {
  return new Refusal(
    "SMUGGLING",
    `The request ${what}, so where it ends is not certain.`,
    "Send one Content-Length, or Transfer-Encoding: chunked, as usual HTTP clients do.",
  )
}
