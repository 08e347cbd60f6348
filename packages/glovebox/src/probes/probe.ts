import type { PolicyFields, PolicyInput, Tier } from "../policy/index.ts"
import type { Expectation, Finding } from "./finding.ts"
import type { Lab } from "./lab.ts"
import type { Weakening } from "./weakening.ts"

export const FAMILIES = [
  "filesystem",
  "kernel",
  "network",
  "sockets",
  "resources",
  "lifecycle",
  "secrets",
  "results",
  "wasm",
] as const
export type Family = (typeof FAMILIES)[number]

/** The ways in which a sandbox can be handed out. */
export const PATHS = ["cold", "pooled", "session"] as const
export type SandboxPath = (typeof PATHS)[number]

/** What whoever makes a sandbox knows of it beside its policy. */
export interface SandboxProbeFacts {
  /** Whether the code has a kernel of its own, such as gVisor. */
  readonly hasOwnKernel: boolean
  /** Variables that the image and the sandbox itself set. */
  readonly knownEnv: readonly string[]
  /** Places that the image declares as volumes. */
  readonly imageVolumes: readonly string[]
  /** At which port of its loopback the sandbox has its way out. */
  readonly proxyPort: number | undefined
  /** Whether the sandbox stands on this machine. */
  readonly isLocal: boolean
  /** The release of the kernel that the sandbox stands on, where it is known. */
  readonly hostKernel: string | undefined
}

/** What is known of the sandbox under test beside its policy. */
export interface ProbeFacts extends SandboxProbeFacts {
  readonly tier: Tier
  readonly path: SandboxPath
}

export interface ProbeContext {
  readonly policy: PolicyFields
  readonly facts: ProbeFacts
}

export type Given = Readonly<Record<string, unknown>>

/** A function of `agents/probes/*.py`, run with others in one sandbox, each in a process of its own. */
export interface InsideAttack {
  readonly kind: "inside"
  readonly attack: string
  readonly given: (context: ProbeContext) => Given
  /** How long it may take. */
  readonly seconds: number
  /** Whether it leaves no trace, so that a sandbox can be used after it. */
  readonly isGentle: boolean
  /** Whether it is an attack on the kernel: one of the sandbox's own may take it as it likes. */
  readonly isOnKernel: boolean
  /** Whether it may end the sandbox, which then is its alone. */
  readonly isAlone: boolean
  /** Whoever looks on from outside while it runs. */
  readonly watch?: ((lab: Lab) => Promise<Watch>) | undefined
  /** Limits in the place of the policy's, where those are too wide to be tried out on the machine. */
  readonly limits: (context: ProbeContext) => PolicyInput["limits"] | undefined
}

/** An observer of an attack, who is there before it and after it. */
export interface Watch extends Partial<AsyncDisposable> {
  /** What the attack has to know of it. */
  readonly given: Given
  /** What it makes of what the attack says. */
  readonly judge?: ((found: Finding) => Finding) | undefined
}

/** A function that uses sandboxes, and looks at them from outside. */
export interface LabAttack {
  readonly kind: "lab"
  readonly run: (lab: Lab) => Promise<Finding>
}

/** How the probe is shown to be able to fail. */
export type Control =
  | { readonly kind: "weakened"; readonly by: readonly Weakening[] }
  /** The attack is given what it looks for. */
  | { readonly kind: "planted"; readonly given: (context: ProbeContext) => Given }
  /** The lab itself leaves out what is to hold: `lab.isControl` tells. */
  | { readonly kind: "careless"; readonly how: string }

export interface Probe {
  /** Stable and short, such as "fs.write-root". */
  readonly id: string
  readonly family: Family
  /** What it tries, in one line. */
  readonly title: string
  /** Why it matters, in one line. */
  readonly why: string
  readonly tiers: readonly Tier[]
  readonly isQuick: boolean
  /** What the policy promises; undefined where it promises nothing of the kind. */
  readonly expects: (context: ProbeContext) => Expectation | undefined
  readonly how: InsideAttack | LabAttack
  /** None where the policy expects it to work: then the probe shows itself that it can. */
  readonly control: Control | undefined
}
