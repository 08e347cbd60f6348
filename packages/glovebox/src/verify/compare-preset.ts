import { GloveboxError } from "../core/index.ts"
import type { PolicyInput, SandboxPolicy } from "../policy/index.ts"
import type { Probe } from "../probes/index.ts"
import { PRESETS, type Preset } from "./docker-presets.ts"
import { type VerifyOptions, readVerifyOptions } from "./verify-options.ts"
import type { VerifyReport } from "./verify-report.ts"
import { checkIds, examine } from "./verify.ts"

/** What a policy's containers hold beside what those of others do. Plain JSON. */
export interface PresetComparison {
  readonly preset: Preset
  /** What it is, in words. */
  readonly title: string
  readonly glovebox: VerifyReport
  /** Of containers with the preset's settings. What the policy expects is not promised there. */
  readonly other: VerifyReport
}

/** Attacks the containers of a policy, and containers of the same image with the settings of a preset. */
export async function comparePreset(
  policy: SandboxPolicy | PolicyInput,
  { preset, ...options }: VerifyOptions & { readonly preset: Preset },
): Promise<PresetComparison> {
  if (!Object.hasOwn(PRESETS, preset)) {
    throw new GloveboxError(
      "OPTION_INVALID",
      `There is no preset ${preset}: there is ${Object.keys(PRESETS).join(", ")}.`,
    )
  }
  const read = readVerifyOptions(policy, options)
  if (read.sandbox !== "docker") {
    throw new GloveboxError("OPTION_INVALID", `The preset ${preset} is of containers: use sandbox: "docker".`)
  }
  checkIds(read.policy, read)
  const glovebox = await examine(read, read.only === undefined ? { keeps: isOfContainers } : {})
  const ids = new Set(glovebox.probes.map(({ id }) => id))
  const all = { ...read, mode: "standard" as const, only: undefined }
  const other = await examine(all, { preset, keeps: ({ id }) => ids.has(id) })
  return { preset, title: PRESETS[preset], glovebox, other }
}

// What an executor does with ends and results is no setting of a container.
const OF_EXECUTORS: readonly string[] = ["lifecycle", "results", "res.output"]

function isOfContainers({ id, family }: Probe): boolean {
  return !OF_EXECUTORS.includes(family) && !OF_EXECUTORS.includes(id)
}
