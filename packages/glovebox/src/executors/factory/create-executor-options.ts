import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import { type PolicyInput, type SandboxPolicy, TIERS, type Tier } from "../../policy/index.ts"
import type { BubblewrapCodeExecutorOptions } from "../bubblewrap/index.ts"
import type {
  DockerCommandLineCodeExecutorOptions,
  DockerExecutorEvent,
  PullPolicy,
  PullProgress,
} from "../docker/index.ts"
import type { PythonFunction } from "../functions/python-function.ts"
import type { DockerJupyterCodeExecutorOptions } from "../jupyter/index.ts"
import type { LanguageOptions } from "../languages.ts"
import type { LocalCommandLineCodeExecutorOptions } from "../local/index.ts"
import { policyOf } from "../sandbox/given-policy.ts"
import { readOptions } from "../../core/read-options.ts"
import type { WasmCodeExecutorOptions } from "../wasm/index.ts"

/** A kind of sandbox, or the best of those that work without being asked for. */
export type SandboxChoice = Tier | "auto"

/** They say which kind it is to be, so none of them can be a kind's own. */
const AT_THE_TOP = ["policy", "image", "pull", "dockerHost", "dockerContext"] as const
type AtTheTop = (typeof AT_THE_TOP)[number]

export interface CreateExecutorOptions {
  /** `auto` is Docker where an engine answers, else the embedded sandbox; never the host. @default "auto" */
  readonly sandbox?: SandboxChoice | undefined
  /** What the code may do, and which kinds of sandbox will do for it (`tiers`, `isolation`). @default deny-all */
  readonly policy?: SandboxPolicy | PolicyInput | undefined
  /** How long a block may run, as "60s" or in milliseconds. */
  readonly timeout?: string | number | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** A fresh sandbox for each call, or one for the executor's life. */
  readonly isolation?: "run" | "session" | undefined
  readonly concurrency?: number | undefined
  readonly languages?: Readonly<Record<string, LanguageOptions>> | undefined
  readonly workDir?: string | undefined
  readonly carry?: DockerCommandLineCodeExecutorOptions["carry"]
  readonly functions?: readonly PythonFunction[] | undefined
  readonly functionsModule?: string | undefined

  /** The image, for docker and jupyter; with `auto` it asks for Docker, and nothing else will do. */
  readonly image?: string | undefined
  readonly pull?: PullPolicy | undefined
  /** The engine; with `auto` it asks for Docker, and nothing else will do. */
  readonly dockerHost?: string | undefined
  readonly dockerContext?: string | undefined
  /** Told while an image is pulled. */
  readonly onPull?: ((progress: PullProgress) => void) | undefined
  /** Told of what happens around the runs, by the kinds that have an engine. */
  readonly onEngineEvent?: ((event: DockerExecutorEvent, sandbox: Tier) => void) | undefined

  /** `local` needs it. */
  readonly dangerouslyRunOnHost?: boolean | undefined

  // Options that one kind alone has, for when it is that kind.
  readonly docker?: Omit<DockerCommandLineCodeExecutorOptions, AtTheTop> | undefined
  readonly jupyter?: Omit<DockerJupyterCodeExecutorOptions, AtTheTop> | undefined
  readonly bubblewrap?: Omit<BubblewrapCodeExecutorOptions, AtTheTop> | undefined
  readonly wasm?: Omit<WasmCodeExecutorOptions, AtTheTop> | undefined
  readonly local?: Partial<Omit<LocalCommandLineCodeExecutorOptions, AtTheTop>> | undefined

  /** Ends the choosing: asking an engine, and pulling. */
  readonly signal?: AbortSignal | undefined
}

// What each kind reads itself is checked by it.
const any = z.unknown().optional()
const schema = z.strictObject({
  sandbox: z.enum(["auto", ...TIERS], `must be one of auto, ${TIERS.join(", ")}`).default("auto"),
  policy: any,
  timeout: any,
  env: any,
  isolation: z.enum(["run", "session"]).optional(),
  concurrency: any,
  languages: any,
  workDir: any,
  carry: any,
  functions: any,
  functionsModule: any,
  image: any,
  pull: any,
  dockerHost: any,
  dockerContext: any,
  onPull: any,
  onEngineEvent: any,
  dangerouslyRunOnHost: z.boolean().optional(),
  docker: any,
  jupyter: any,
  bubblewrap: any,
  wasm: any,
  local: any,
  signal: z.instanceof(AbortSignal).optional(),
})

export interface CreateOptions {
  readonly sandbox: SandboxChoice
  /** With the shorthands in the place of its own fields. */
  readonly policy: SandboxPolicy
  readonly given: CreateExecutorOptions
}

const OF_DOCKER = ["image", "pull", "dockerHost", "dockerContext"] as const
/** Those of them that say that it is to be Docker. */
const ASKS_FOR_DOCKER = ["image", "dockerHost", "dockerContext"] as const

/** Checks the options, and that none of them would do nothing. */
export function readCreateOptions(given: CreateExecutorOptions): CreateOptions {
  const { sandbox } = readOptions("the executor", schema, given)
  const { image, timeout, env } = given
  const policy = policyOf({ policy: given.policy, timeout, env }, { image })
  if (sandbox !== "auto" && sandbox !== "docker" && sandbox !== "jupyter") {
    const idle = OF_DOCKER.filter((name) => given[name] !== undefined)
    if (idle.length > 0)
      throw invalid(`${idle.join(", ")} is for docker and jupyter, and the sandbox is ${sandbox}.`)
  }
  if (given.isolation === "run" && (sandbox === "jupyter" || sandbox === "local")) {
    throw invalid(`isolation: "run" is not to be had with ${sandbox}: all its calls share one place.`)
  }
  for (const tier of TIERS) refuseTopOptions(tier, given[tier])
  return { sandbox, policy, given }
}

function refuseTopOptions(tier: Tier, own: object | undefined): void {
  const misplaced = AT_THE_TOP.filter((name) => own !== undefined && own !== null && name in own)
  if (misplaced.length === 0) return
  throw invalid(
    `${misplaced.join(", ")} is given under ${tier}, where it would not count for the choice: give it beside ${tier}.`,
  )
}

/** The option by which `auto` can only be Docker; undefined when it is open. */
export function asksForDocker(given: CreateExecutorOptions): string | undefined {
  return ASKS_FOR_DOCKER.find((name) => given[name] !== undefined)
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("OPTION_INVALID", message)
}
