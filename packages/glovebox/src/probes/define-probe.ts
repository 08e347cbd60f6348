import type { PolicyInput, Tier } from "../policy/index.ts"
import type { Expectation, Finding } from "./finding.ts"
import type { Lab } from "./lab.ts"
import type { Control, Family, Given, Probe, ProbeContext, Watch } from "./probe.ts"
import type { Weakening } from "./weakening.ts"

/** Sandboxes that are made of containers. */
export const CONTAINERS: readonly Tier[] = ["docker", "jupyter"]
/** Sandboxes with a system in them. */
export const SYSTEMS: readonly Tier[] = ["docker", "jupyter", "bubblewrap"]

interface Common {
  readonly id: string
  readonly title: string
  readonly why: string
  /** @default SYSTEMS */
  readonly tiers?: readonly Tier[]
  /** @default false */
  readonly quick?: boolean
  /** @default that it is refused */
  readonly expects?: (context: ProbeContext) => Expectation | undefined
  /** Settings without which it works. */
  readonly weakened?: readonly Weakening[]
  /** What the attack is given so that it finds it. */
  readonly planted?: (context: ProbeContext) => Given
  /** What the lab leaves out in a control, in words. */
  readonly careless?: string
}

export interface InsideDefinition extends Common {
  readonly attack: string
  readonly given?: (context: ProbeContext) => Given
  readonly seconds?: number
  /** An observer outside. @default none */
  readonly watch?: (lab: Lab) => Promise<Watch>
  /** @default that of `quick`, unless it is watched */
  readonly gentle?: boolean
  /** Whether it is an attack on the kernel. @default false */
  readonly onKernel?: boolean
  /** @default false */
  readonly alone?: boolean
  /** @default the policy's */
  readonly limits?: (context: ProbeContext) => PolicyInput["limits"] | undefined
}

export interface LabDefinition extends Common {
  readonly run: (lab: Lab) => Promise<Finding>
}

/** A probe that is a function of `agents/probes`. */
export function inside(family: Family, definition: InsideDefinition): Probe {
  const {
    attack,
    given = () => ({}),
    seconds = 10,
    limits = () => undefined,
    alone = false,
    watch,
  } = definition
  const isGentle = definition.gentle ?? (definition.quick === true && !alone && !watch)
  const how = {
    attack,
    given,
    seconds,
    isGentle,
    isOnKernel: definition.onKernel ?? false,
    isAlone: alone,
    watch,
    limits,
  }
  return define(family, definition, { kind: "inside", ...how })
}

/** A probe that looks from outside. */
export function lab(family: Family, definition: LabDefinition): Probe {
  return define(family, definition, { kind: "lab", run: definition.run })
}

function define(family: Family, definition: Common, how: Probe["how"]): Probe {
  const { id, title, why, tiers = SYSTEMS, quick = false, expects = () => "BLOCKED" } = definition
  return { id, family, title, why, tiers, isQuick: quick, expects, how, control: controlOf(definition) }
}

function controlOf({ weakened, planted, careless }: Common): Control | undefined {
  if (weakened) return { kind: "weakened", by: weakened }
  if (planted) return { kind: "planted", given: planted }
  return careless === undefined ? undefined : { kind: "careless", how: careless }
}
