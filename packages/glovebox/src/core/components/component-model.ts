import { z } from "zod"

/** The version of the envelope that this release reads and writes. */
export const ENVELOPE_VERSION = 1

/** A component as data: what it is, and its configuration. Field names are AutoGen's wire format. */
export const componentModelSchema = z.object({
  /** The registered name of the component. */
  provider: z.string().min(1),
  /** What it is used as: agent, model, tool, termination, ... */
  component_type: z.string().nullish(),
  /** The version of this envelope. */
  version: z.int().positive().nullish(),
  /** The version of the configuration; absent means the current one. */
  component_version: z.int().positive().nullish(),
  description: z.string().nullish(),
  label: z.string().nullish(),
  config: z.record(z.string(), z.unknown()),
})

export type ComponentModel = z.infer<typeof componentModelSchema>

/** An object that can be written down as data and made again from it. */
export interface Component {
  toComponent(): ComponentModel
}
