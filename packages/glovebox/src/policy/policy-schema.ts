import { z } from "zod"
import { bytes, duration } from "./amount-schema.ts"
import { asSet } from "./as-set.ts"
import { secretIssues } from "./check-secrets.ts"
import { mountSchema } from "./mount-schema.ts"
import { networkSchema } from "./network-schema.ts"
import { VARIABLE_NAME, secretsSchema } from "./secret-schema.ts"

const MiB = 1024 ** 2
const GiB = 1024 ** 3

const limitsSchema = z.strictObject({
  /** How long a block of code may run. */
  wall: duration(100, 24 * 3_600_000).default(60_000),
  memory: bytes(16 * MiB, 1024 * GiB).default(512 * MiB),
  /** How many processors' worth of time. */
  cpus: z.number().min(0.01).max(1024).default(1),
  /** How many processes and threads. */
  pids: z.int().min(4).max(65_536).default(128),
  /** How much the workspace holds. */
  workspace: bytes(MiB, 1024 * GiB).default(256 * MiB),
  /** How many files the workspace holds. */
  files: z.int().min(16).max(100_000_000).default(65_536),
  /** How much output is kept. */
  output: bytes(1024, GiB).default(MiB),
})

// A name that Docker, containerd and a registry all take; the digest pins it.
const LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
const HOST = `(?:${LABEL}(?:\\.${LABEL})*(?::[0-9]{1,5})?/)?`
const COMPONENT = "[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*"
const TAG = "(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
const IMAGE = new RegExp(
  `^(?:${HOST}${COMPONENT}(?:/${COMPONENT})*${TAG}(?:@sha256:[0-9a-f]{64})?|sha256:[0-9a-f]{64})$`,
)
const USER = /^(?:0|[1-9]\d{0,9}):(?:0|[1-9]\d{0,9})$/
const CAPABILITY = /^[A-Z][A-Z_]+$/

/** Kinds of sandbox, from the strongest to none at all. */
export const TIERS = ["docker", "jupyter", "bubblewrap", "wasm", "local"] as const
export type Tier = (typeof TIERS)[number]

// What a sandbox may do. Every default is the closed one: `{}` denies all.
const fieldsSchema = z.strictObject({
  image: z.string().regex(IMAGE, "is not the name of an image").default("python:3-slim"),
  network: networkSchema.default("none"),
  readOnlyRoot: z.boolean().default(true),
  /** Numbers, because a name means what the image says it means. */
  user: z
    .string()
    .regex(USER, `must be "uid:gid" in numbers`)
    // Above this a number wraps around, to root among others.
    .refine(
      (user) => user.split(":").every((part) => Number(part) <= 2_147_483_647),
      "has a number that is too large",
    )
    .default("65532:65532"),
  capabilities: z
    .array(z.string().regex(CAPABILITY, `must be a name such as "NET_RAW"`))
    .transform(asSet)
    .default([]),
  /** Which calls the kernel takes: ours, another profile in Docker's format, or all. */
  seccomp: z
    .union([
      z.literal("strict"),
      z.strictObject({ profile: z.record(z.string(), z.json()) }),
      z.strictObject({ dangerously: z.literal("unconfined") }),
    ])
    .default("strict"),
  limits: limitsSchema.prefault({}),
  mounts: z
    .array(mountSchema)
    .refine((mounts) => new Set(mounts.map(({ target }) => target)).size === mounts.length, "share a target")
    .default([]),
  /** The whole environment: nothing of the host's is passed. */
  env: z.record(z.string().regex(VARIABLE_NAME, "is not the name of a variable"), z.string()).default({}),
  /** What code uses without having it: it sees a placeholder, and the gate puts the value in for the named hosts. */
  secrets: secretsSchema,
  /** `auto` takes gVisor where the engine has it; a name requires that runtime. */
  runtime: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]*$/i, "is not the name of a runtime")
    .default("auto"),
  /** The weakest boundary that will do; a backend that is weaker refuses. */
  isolation: z.enum(["vm", "userspace-kernel", "container", "wasm"]).optional(),
  /** The kinds of sandbox that may run the code; all others refuse. */
  tiers: z
    .array(z.enum(TIERS))
    .min(1, "an empty list lets nothing run: leave it out, or name a sandbox")
    .transform((tiers) => TIERS.filter((tier) => tiers.includes(tier)))
    .optional(),
})

/** What a sandbox may do, with what its fields say of each other. */
export const policySchema = fieldsSchema.superRefine((fields, context) => {
  context.issues.push(...secretIssues(fields))
})

export type PolicyInput = z.input<typeof policySchema>
export type PolicyFields = z.output<typeof policySchema>
