import { z } from "zod"

/** A server that is started as a process and spoken to by its stdin and stdout. */
export interface StdioServerParams {
  readonly command: string
  /** Secrets belong into `env`: other users of the machine can see arguments. @default [] */
  readonly args?: readonly string[] | undefined
  /** Added to the few harmless variables that it gets of this process's environment. @default {} */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
}

/** A server that listens, by "streamable HTTP". */
export interface StreamableHttpServerParams {
  readonly url: string
  /** Such as `{ authorization: "Bearer ..." }`. @default {} */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export type McpServerParams = StdioServerParams | StreamableHttpServerParams

const text = z.string().regex(/^[^\0]*$/, "has a NUL character")

export const serverParamsSchema = z.union(
  [
    z.strictObject({
      command: text.min(1),
      args: z.array(text).default([]),
      env: z.record(text, text).default({}),
      cwd: text.optional(),
    }),
    z.strictObject({
      url: z.url({ protocol: /^https?$/, error: "is no http(s) address" }),
      headers: z.record(z.string(), z.string()).default({}),
    }),
  ],
  { error: "must be { command, args?, env?, cwd? } or { url, headers? }, with an http(s) address" },
)

export type ReadServerParams = z.output<typeof serverParamsSchema>

/** The server in a few words, without what may be secret: arguments, the address's query, and parts of it like keys. */
export function describeServer(params: ReadServerParams): string {
  if ("command" in params) return params.command
  const { origin, pathname } = new URL(params.url)
  return `${origin}${pathname.replaceAll(LIKE_A_KEY, "/[redacted]")}`
}

const SHORTEST_SECRET = 4
// Some hosts have the key in the path.
const LIKE_A_KEY = /\/[^/]{16,}/g

/** Takes everything out of a text that was given to the server and may be secret. */
export function redactor(params: ReadServerParams): (text: string) => string {
  const hidden = secretsOf(params)
  return (shown) => hidden.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), shown)
}

export function longestSecret(params: ReadServerParams): number {
  return secretsOf(params)[0]?.length ?? 0
}

function secretsOf(params: ReadServerParams): readonly string[] {
  const secrets = "command" in params ? Object.values(params.env) : httpSecrets(params)
  // The longest first: one may be a part of another.
  return [...new Set(secrets)]
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length)
}

function httpSecrets({
  url,
  headers,
}: {
  readonly url: string
  readonly headers: Record<string, string>
}): string[] {
  const { username, password, search, searchParams, pathname } = new URL(url)
  const values = Object.values(headers).flatMap((value) => [value, value.replace(/^\S+ /, "")])
  const segments = [...pathname.matchAll(LIKE_A_KEY)].map(([segment]) => segment.slice(1))
  // As written and as meant: either may be shown.
  const written = [
    username,
    password,
    ...segments,
    ...[...search.matchAll(/=([^&]*)/g)].map(([, value = ""]) => value),
  ]
  return [...values, ...written, ...written.map(decoded), ...searchParams.values()]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
