import { X509Certificate } from "node:crypto"
import { z } from "zod"
import { type SandboxPolicy, parseBytes, parseDuration } from "../../policy/index.ts"
import type { EgressLookup } from "../../egress/index.ts"
import type { PythonFunction } from "../functions/python-function.ts"
import type { WorkspaceLimits } from "../workspace.ts"

const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A time such as "5m", or milliseconds. */
export const duration = z.union([z.string(), z.number()]).transform((value, context) => {
  const parsed = parseDuration(value)
  // Longer than a timer can be, it would fire at once.
  if (parsed !== undefined && parsed > 0 && parsed <= LONGEST_TIMER_MS) return parsed
  context.addIssue({
    code: "custom",
    message: `${JSON.stringify(value)} is not a time such as "5m", of at most 24 days`,
  })
  return z.NEVER
})

/** A size such as "64MiB", or bytes. */
export const size = z.union([z.string(), z.number()]).transform((value, context) => {
  const parsed = parseBytes(value)
  if (parsed !== undefined && parsed > 0) return parsed
  context.addIssue({ code: "custom", message: `${JSON.stringify(value)} is not a size such as "64MiB"` })
  return z.NEVER
})

/** Text that can be an argument or a path. */
export const text = z
  .string()
  .min(1)
  .regex(/^[^\0]*$/, "has a NUL character")

// TLS passes over what it cannot read, and every server would be untrusted without a reason.
const certificates = z
  .string()
  .refine((pem) => readCertificates(pem) > 0, "must be certificates as PEM, each of them whole")

/** Options that executors with sandboxes have in common; fields of the policy are checked by the policy. */
export const sandboxOptionFields = {
  policy: z.unknown().optional(),
  timeout: z.unknown().optional(),
  memory: z.unknown().optional(),
  cpus: z.unknown().optional(),
  pids: z.unknown().optional(),
  network: z.unknown().optional(),
  egress: z
    .strictObject({
      lookup: z.custom<EgressLookup>((value) => typeof value === "function", "must be a function").optional(),
      ca: z.union([certificates, z.array(certificates)]).optional(),
    })
    .default({}),
  secretValues: z.record(z.string(), z.string()).optional(),
  env: z.record(z.string(), z.string().regex(/^[^\0]*$/, "has a NUL character")).optional(),
  verify: z.literal("claim", `must be "claim", or be left out`).optional(),
  isolation: z.enum(["run", "session"]).default("run"),
  interpreter: z.enum(["ready", "fresh"]).default("ready"),
  pool: z
    .union([
      z.literal(false).transform(() => ({ size: 0, idleLease: 300_000 })),
      z.strictObject({ size: z.int().min(0).max(256).default(2), idleLease: duration.default(300_000) }),
    ])
    .default({ size: 2, idleLease: 300_000 }),
  concurrency: z.int().min(1).max(1024).default(4),
  languages: z.unknown().optional(),
  workDir: text.optional(),
  carry: z
    .union([
      z.literal(false),
      z.strictObject({
        maxBytes: size.default(64 * 1024 ** 2),
        maxFiles: z.int().min(1).max(1_000_000).default(4096),
      }),
    ])
    .default({ maxBytes: 64 * 1024 ** 2, maxFiles: 4096 }),
  deleteTmpFiles: z.boolean().default(false),
  functions: z
    .array(
      z.custom<PythonFunction>(
        (value) => typeof value === "object" && value !== null && "source" in value && "signature" in value,
        "must be made by pythonFunction()",
      ),
    )
    .default([]),
  functionsModule: z.string().default("functions"),
}

function readCertificates(pem: string): number {
  try {
    const all = pem.match(/-----BEGIN CERTIFICATE-----[^-]*(?:-----END CERTIFICATE-----)?/g) ?? []
    return all.map((text) => new X509Certificate(text)).length
  } catch {
    return 0
  }
}

/** What was taken out of a workspace has to fit into the next, beside the code and within its memory. */
export function carryLimits(carry: WorkspaceLimits, { fields }: SandboxPolicy): WorkspaceLimits {
  const { workspace, memory, files } = fields.limits
  return {
    maxBytes: Math.floor(Math.min(carry.maxBytes, workspace * 0.75, memory * 0.5)),
    maxFiles: Math.max(1, Math.floor(Math.min(carry.maxFiles, files * 0.5))),
  }
}
