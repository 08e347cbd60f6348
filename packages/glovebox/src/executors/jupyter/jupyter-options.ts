import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import { SandboxPolicy, checkTier } from "../../policy/index.ts"
import {
  type DockerCommandLineCodeExecutorOptions,
  type DockerOptions,
  readDockerOptions,
} from "../docker/docker-options.ts"
import { givenPolicy } from "../sandbox/given-policy.ts"
import { duration, size } from "../sandbox/option-fields.ts"
import { readOptions } from "../../core/read-options.ts"
import type { ShownLimits } from "./shown-outputs.ts"

export const DEFAULT_IMAGE = "glovebox/jupyter:py3"

const FIXED = ["isolation", "interpreter", "pool", "concurrency"] as const

export interface DockerJupyterCodeExecutorOptions extends Omit<
  DockerCommandLineCodeExecutorOptions,
  (typeof FIXED)[number]
> {
  /** After so long without a call the kernel and its container are ended, as "30m" or in milliseconds. @default never */
  readonly idleTimeout?: string | number | undefined
  /** How much a call may show beside its text; what is more is left out, and says so. @default { maxBytes: "16MiB", maxCount: 256 } */
  readonly richOutput?:
    | { readonly maxBytes?: string | number | undefined; readonly maxCount?: number | undefined }
    | undefined
}

const ownSchema = z.strictObject({
  idleTimeout: duration.optional(),
  richOutput: z
    .strictObject({
      maxBytes: size.default(16 * 1024 ** 2),
      maxCount: z.int().min(0).max(10_000).default(256),
    })
    .default({ maxBytes: 16 * 1024 ** 2, maxCount: 256 }),
})

export interface JupyterOptions {
  readonly docker: DockerOptions
  readonly idleTimeout: number | undefined
  readonly richOutput: ShownLimits
}

/** Checks the options; those of the container are the Docker executor's. */
export function readJupyterOptions(options: DockerJupyterCodeExecutorOptions): JupyterOptions {
  // What is no object has no fields to be looked at.
  readOptions("the executor", z.looseObject({}), options)
  const { idleTimeout, richOutput, ...rest } = options
  const own = readOptions("the executor", ownSchema, { idleTimeout, richOutput })
  for (const name of FIXED) {
    if (name in rest)
      throw new GloveboxError("OPTION_INVALID", `${name} is not an option of a kernel, ${WHY[name]}`)
  }
  const image = rest.image ?? imageOf(rest.policy)
  const docker = readDockerOptions({
    ...rest,
    image,
    // A name that is made here must not be looked for in a registry, where anyone might give it to something else.
    pull: rest.pull ?? (image === DEFAULT_IMAGE ? "never" : "missing"),
    isolation: "session",
    interpreter: "fresh",
    pool: { size: 1 },
  })
  checkTier(docker.policy, "jupyter")
  return { docker, idleTimeout: own.idleTimeout, richOutput: own.richOutput }
}

/** The options of a Docker executor, or what stands for them in data, that a kernel has. */
export function withoutFixed<T extends object>(fields: T): Omit<T, (typeof FIXED)[number]> {
  const fixed: readonly string[] = FIXED
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !fixed.includes(name))) as Omit<
    T,
    (typeof FIXED)[number]
  >
}

const WHY: Readonly<Record<(typeof FIXED)[number], string>> = {
  isolation: "which lives from call to call.",
  interpreter: "which is the interpreter.",
  pool: "which there is one of.",
  concurrency: "which does one call at a time. Use several executors for several kernels.",
}

// The policy's own default has no kernel.
function imageOf(policy: unknown): string {
  const { image } = givenPolicy(policy)
  return image === undefined || image === new SandboxPolicy().fields.image ? DEFAULT_IMAGE : image
}
