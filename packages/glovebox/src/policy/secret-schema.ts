import { z } from "zod"
import { asSet } from "./as-set.ts"
import { type EgressTarget, describeTarget, readEgressTarget } from "./egress-rule.ts"

const HTTPS_PORT = 443
const HTTP_PORT = 80
const PLAIN = "http://"
const HEADER = /^[A-Za-z][A-Za-z0-9-]{0,63}$/
const PLACE = "{value}"
// Between two neighbours, or written by the gate itself.
const NEVER_A_SECRET =
  /^(?:a-im|accept-charset|accept-encoding|connection|content-length|expect|host|http2-settings|keep-alive|sec-websocket-extensions|te|trailer|transfer-encoding|upgrade|proxy-.*)$/i
export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Where a secret may go. */
export interface SecretHost {
  readonly target: EgressTarget
  /** Whether it may go there as plain text; else inside TLS alone. */
  readonly isPlain: boolean
}

/** Reads "host", "host:port" (both by TLS) or "http://host:port", as a policy has it. */
export function readSecretHost(text: string): SecretHost | { readonly fault: string } {
  const isPlain = text.startsWith(PLAIN)
  const authority = text.slice(isPlain ? PLAIN.length : 0)
  const hasPort = /^(?:\[[^\]]*\]|[^:]*):/.test(authority)
  const read = readEgressTarget(hasPort ? authority : `${authority}:${isPlain ? HTTP_PORT : HTTPS_PORT}`)
  if ("fault" in read)
    return { fault: `must be a host such as "api.example.com", or "http://host:port" for plain HTTP` }
  if (read.target.isWildcard)
    return {
      fault: "must name one host, without a wildcard: what it covers is not known to whoever writes it",
    }
  return { target: read.target, isPlain }
}

/** The one way of writing it. */
function describeSecretHost({ target, isPlain }: SecretHost): string {
  return `${isPlain ? PLAIN : ""}${describeTarget(target)}`
}

const host = z.string().transform((text, context) => {
  const read = readSecretHost(text)
  if (!("fault" in read)) return describeSecretHost(read)
  context.addIssue({ code: "custom", message: `${read.fault}; it is ${JSON.stringify(text)}` })
  return z.NEVER
})

const secretSchema = z
  .strictObject({
    /** Where the value may go: "host" or "host:port" by TLS, "http://host:port" in the clear. */
    hosts: z.array(host).min(1, "an empty list lets the secret go nowhere: name a host").transform(asSet),
    /** The header that carries it; left out, the value takes the placeholder's place in any header. */
    header: z
      .string()
      .regex(HEADER, `must be the name of a header such as "Authorization"`)
      .refine((name) => !NEVER_A_SECRET.test(name), "is a header that the gate writes itself")
      .optional(),
    /** What that header says, with the value in the place of {value}. @default "{value}" */
    format: z
      .string()
      .max(256)
      .regex(/^[\x20-\x7e]*$/, "must be printable ASCII")
      .refine((format) => format.split(PLACE).length === 2, `must have ${PLACE} in it, once`)
      .optional(),
    /** The variable in which code finds the placeholder. @default the secret's name */
    env: z.string().regex(VARIABLE_NAME, "is not the name of a variable").optional(),
  })
  .refine(({ header, format }) => format === undefined || header !== undefined, {
    path: ["format"],
    message: "is the form of a header: say which (header)",
  })

/** Secrets by name; their values are never in a policy. */
export const secretsSchema = z
  .record(z.string().regex(VARIABLE_NAME, "must be a name such as API_TOKEN"), secretSchema)
  .transform((secrets) => (Object.keys(secrets).length === 0 ? undefined : secrets))
  .optional()

export type SecretFields = z.output<typeof secretSchema>
export type SecretsFields = z.output<typeof secretsSchema>

/** The variable in which code finds the placeholder. */
export function secretVariable(name: string, { env }: SecretFields): string {
  return env ?? name
}
