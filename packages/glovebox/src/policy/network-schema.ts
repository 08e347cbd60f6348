import { z } from "zod"
import { bytes, duration } from "./amount-schema.ts"
import { asSet } from "./as-set.ts"
import { describeTarget, readEgressTarget } from "./egress-rule.ts"

const HTTP_PORT = 80
const METHOD = /^[A-Z]{1,16}$/
// What a server could take for another path than it reads here is refused in the rule already.
const PATH = /^(?!.*(?:\/\/|\/\.|%|\\|[?#]))\/[\x21-\x7e]*$/

const target = z.string().transform((text, context) => {
  const read = readEgressTarget(text)
  if ("target" in read) return describeTarget(read.target)
  context.addIssue({ code: "custom", message: `${read.fault}; it is ${JSON.stringify(text)}` })
  return z.NEVER
})

// What a wildcard covers is not known to whoever writes it, and private addresses are to be known.
const service = target.refine((text) => !text.startsWith("*."), "must name one service, without a wildcard")

const ruleSchema = z
  .strictObject({
    /** "host:port" or "*.host:port"; the star stands for one label. */
    to: target,
    /** What a connection may speak: TLS and HTTP, which name the host and are checked, or anything. */
    protocol: z.enum(["web", "tcp"]).default("web"),
    /** Whether the gate ends TLS to the target itself: it reads the requests, and encrypts anew to the server. */
    intercept: z.boolean().optional(),
    /** Only these methods, which plain HTTP and interception let be seen. */
    methods: z
      .array(z.string().regex(METHOD, `must be a method such as "GET"`))
      .min(1)
      .transform(asSet)
      .optional(),
    /** Only paths that begin so, which plain HTTP and interception let be seen. */
    paths: z
      .array(z.string().regex(PATH, `must begin with a slash and be plain, such as "/simple/"`))
      .min(1)
      .transform(asSet)
      .optional(),
    /** How many bytes one sandbox may send, over all connections by this rule. */
    up: bytes(1, 1024 ** 5).optional(),
    /** How many bytes it may be sent. */
    down: bytes(1, 1024 ** 5).optional(),
  })
  .refine((rule) => rule.protocol === "web" || (!rule.methods && !rule.paths), {
    path: ["protocol"],
    message: "must be web for a rule with methods or paths: nothing else is read",
  })
  .refine((rule) => !rule.intercept || rule.protocol === "web", {
    path: ["intercept"],
    message: "is for TLS, and a rule with protocol: tcp looks at nothing",
  })
  .refine((rule) => !rule.intercept || !rule.to.endsWith(`:${HTTP_PORT}`), {
    path: ["intercept"],
    message: "is for TLS, and port 80 is that of plain HTTP, which is read without it",
  })
  // Left out and false are one rule.
  .transform(({ intercept, ...rule }) => ({ ...rule, ...(intercept ? { intercept: true as const } : {}) }))

export type EgressRuleFields = z.output<typeof ruleSchema>

type ListedRule = string | EgressRuleFields

// Not a union, whose errors would be those of all its branches.
const listedRule = z
  .custom<string | z.input<typeof ruleSchema>>(
    (value) => typeof value === "string" || (typeof value === "object" && value !== null),
    `must be "host:port", or an object with it as "to"`,
  )
  .transform((given, context): ListedRule => {
    const { data, error } = (typeof given === "string" ? target : ruleSchema).safeParse(given)
    if (data === undefined) {
      for (const { input: _input, ...issue } of error.issues)
        context.issues.push({ ...issue, input: undefined })
      return z.NEVER
    }
    // One rule is one text, if that says all of it.
    return typeof data !== "string" && isPlain(data) ? data.to : data
  })

const allowSchema = z
  .strictObject({
    /** Hosts that may be reached, as "host:port", "*.host:port", or with what may be done there. */
    allow: z.array(listedRule).transform(asRules).default([]),
    /** Services at addresses that are private, or of this machine, and that may be reached all the same. */
    allowPrivate: z.array(service).transform(asSet).optional(),
    /** How many connections are open at a time. */
    connections: z.int().min(1).max(4096).default(256),
    /** How long a connection on which nothing moves stays. */
    idle: duration(100, 24 * 3_600_000).default(60_000),
  })
  .refine(({ allow, allowPrivate = [] }) => allow.length + allowPrivate.length > 0, {
    path: ["allow"],
    message: "an empty list allows nothing: write network: none",
  })

export const networkSchema = z.union([
  z.literal("none"),
  allowSchema,
  z.strictObject({
    /** A network of the engine, with all that can be reached from there. */
    dangerously: z.enum(["bridge", "host"]),
  }),
])

export type NetworkFields = z.output<typeof networkSchema>
/** An allow-list as it is written. */
export type AllowListInput = z.input<typeof allowSchema>
/** The network of a policy with an allow-list. */
export type AllowList = z.output<typeof allowSchema>

/** The allow-list of a policy, if it has one. */
export function allowListOf(network: NetworkFields): AllowList | undefined {
  return typeof network === "object" && "allow" in network ? network : undefined
}

function isPlain({ protocol, intercept, methods, paths, up, down }: EgressRuleFields): boolean {
  return protocol === "web" && [intercept, methods, paths, up, down].every((field) => field === undefined)
}

function asRules<Rule>(rules: readonly Rule[]): Rule[] {
  const byText = new Map(rules.map((rule) => [JSON.stringify(rule), rule]))
  return [...byText.keys()].toSorted().map((text) => byText.get(text)!)
}
