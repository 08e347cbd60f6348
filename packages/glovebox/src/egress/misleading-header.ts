import type { RequestHead } from "./request-head.ts"

// By these some servers take a request for another than its first line says.
const OVERRIDES = new Set([
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "x-original-method",
  "x-original-uri",
  "x-original-url",
  "x-rewrite-uri",
  "x-rewrite-url",
])

/** A header by which a server could see another method or path than the gate does; undefined when there is none. */
export function misleadingHeader({ fields }: RequestHead): string | undefined {
  return fields.find(
    ({ key }) =>
      OVERRIDES.has(key) ||
      key.startsWith("x-forwarded-") ||
      // Many servers read it as a hyphen.
      key.includes("_"),
  )?.name
}
