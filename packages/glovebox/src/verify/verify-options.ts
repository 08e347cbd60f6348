import { z } from "zod"
import type { EgressLookup } from "../egress/index.ts"
import type { EngineAddressOptions, PullPolicy } from "../executors/docker/index.ts"
import { DEFAULT_IMAGE } from "../executors/jupyter/jupyter-options.ts"
import { givenPolicy } from "../executors/sandbox/given-policy.ts"
import { readOptions } from "../core/read-options.ts"
import { type PolicyInput, SandboxPolicy } from "../policy/index.ts"
import { PATHS, type SandboxPath } from "../probes/index.ts"
import type { ProbeReport, VerifyMode } from "./verify-report.ts"

export const VERIFIED_TIERS = ["docker", "jupyter", "bubblewrap", "wasm"] as const
export type VerifiedTier = (typeof VERIFIED_TIERS)[number]

export interface VerifyOptions extends EngineAddressOptions {
  /** The kind of sandbox. @default "docker" */
  readonly sandbox?: VerifiedTier | undefined
  /** How sandboxes are handed out: made for the call, taken from the pool, or kept for all calls. @default "cold" */
  readonly path?: SandboxPath | undefined
  /** A part of the probes, all of them, or all of them and their controls. @default "standard" */
  readonly mode?: VerifyMode | undefined
  /** The ids of the probes to run. @default all */
  readonly only?: readonly string[] | undefined
  /** The image, in the place of the policy's. */
  readonly image?: string | undefined
  readonly pull?: PullPolicy | undefined
  /** How names of an allow-list become addresses. */
  readonly egress?: { readonly lookup?: EgressLookup | undefined } | undefined
  readonly signal?: AbortSignal | undefined
  /** Called with each probe when it is over; of a full run before its control. */
  readonly onProbe?: ((report: ProbeReport) => void) | undefined
}

const schema = z.strictObject({
  sandbox: z.enum(VERIFIED_TIERS).default("docker"),
  path: z.enum(PATHS).optional(),
  mode: z.enum(["quick", "standard", "full"]).default("standard"),
  only: z.array(z.string()).min(1).optional(),
  image: z.string().optional(),
  pull: z.enum(["never", "missing", "always"]).optional(),
  egress: z
    .strictObject({
      lookup: z.custom<EgressLookup>((value) => typeof value === "function", "must be a function").optional(),
    })
    .optional(),
  dockerHost: z.string().optional(),
  dockerContext: z.string().optional(),
  tls: z
    .strictObject({ ca: z.string().optional(), cert: z.string().optional(), key: z.string().optional() })
    .optional(),
  dangerouslyAllowPlaintext: z.boolean().optional(),
  signal: z.instanceof(AbortSignal).optional(),
  onProbe: z
    .custom<VerifyOptions["onProbe"]>((value) => typeof value === "function", "must be a function")
    .optional(),
})

export interface ReadVerifyOptions extends Omit<z.output<typeof schema>, "path" | "signal"> {
  /** With the image in its place. */
  readonly policy: SandboxPolicy
  readonly path: SandboxPath
  readonly signal: AbortSignal
}

/** Checks the options and gives them their defaults. */
export function readVerifyOptions(
  policy: SandboxPolicy | PolicyInput,
  options: VerifyOptions,
): ReadVerifyOptions {
  const data = readOptions("verify", schema, options, { otherNames: { tier: "sandbox", probes: "only" } })
  const given = givenPolicy(policy)
  const image = data.image ?? imageOf(data.sandbox, given)
  return {
    ...data,
    policy: new SandboxPolicy({ ...given, ...(image === undefined ? {} : { image }) }),
    // A kernel lives from call to call.
    path: data.path ?? (data.sandbox === "jupyter" ? "session" : "cold"),
    signal: data.signal ?? new AbortController().signal,
  }
}

// The policy's own default has no kernel.
function imageOf(tier: VerifiedTier, { image }: PolicyInput): string | undefined {
  const isDefault = image === undefined || image === new SandboxPolicy().fields.image
  return tier === "jupyter" && isDefault ? DEFAULT_IMAGE : image
}
