import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec"
import { describe } from "../../internal/describe.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { formatIssues } from "../../internal/format-issues.ts"
import { schemaProblem, validateSync } from "../../internal/validate-sync.ts"
import { GloveboxError } from "../glovebox-error.ts"
import { checkJson } from "../json.ts"
import { type ComponentModel, ENVELOPE_VERSION } from "./component-model.ts"

/** A schema that both checks a configuration and describes itself as JSON Schema; zod's do. */
export type ConfigSchema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output> &
  StandardJSONSchemaV1<Input, Output>

/** What a factory may use to make the components inside its own configuration. */
export interface ComponentLoader {
  /** The names that can be loaded, without aliases. */
  readonly providers: readonly string[]
  load(model: unknown): unknown
  load<T>(model: unknown, expected: abstract new (...args: never) => T): T
}

export interface ComponentOptions<Schema extends ConfigSchema, Instance> {
  /** The name it is registered and saved under, for example "example.agents.Greeter". */
  readonly provider: string
  /** Other names it is loaded by, such as the name AutoGen saved it under. @default [] */
  readonly aliases?: readonly string[] | undefined
  /** What it is used as: agent, model, tool, termination, ... */
  readonly type: string
  /** Raise it when the configuration changes shape, and add an upgrade. @default 1 */
  readonly version?: number | undefined
  readonly description?: string | undefined
  readonly config: Schema
  readonly create: (config: StandardSchemaV1.InferOutput<Schema>, loader: ComponentLoader) => Instance
  /** By version: turns a configuration of that version into one of the next. @default {} */
  readonly upgrades?:
    | Readonly<Record<number, (config: Record<string, unknown>) => Record<string, unknown>>>
    | undefined
}

/** A kind of component: its name, its configuration and how it is made. */
export interface ComponentDefinition<Config = unknown, Instance = unknown> {
  readonly provider: string
  readonly aliases: readonly string[]
  readonly type: string
  readonly version: number
  /** The JSON Schema of the configuration. */
  readonly configSchema: Readonly<Record<string, unknown>>
  /** Writes a configuration down; call it from `toComponent`. */
  dump(config: Config, about?: { readonly description?: string; readonly label?: string }): ComponentModel
  /** Makes the component from data of this or an earlier version. */
  create(config: Record<string, unknown>, version: number, loader: ComponentLoader): Instance
}

const PROVIDER = /^[\p{L}\p{N}_\-./]+$/u

/** Defines a kind of component, to be added to a `ComponentRegistry`. */
export function defineComponent<Schema extends ConfigSchema, Instance>(
  options: ComponentOptions<Schema, Instance>,
): ComponentDefinition<StandardSchemaV1.InferInput<Schema>, Instance> {
  const { provider, aliases = [], type, version = 1, upgrades = {} } = options
  for (const name of [provider, ...aliases]) {
    if (typeof name !== "string" || !PROVIDER.test(name)) {
      throw invalid(
        `Component name ${describe(name)} is not valid. Use letters, digits, "_", "-", "." or "/".`,
      )
    }
  }
  if (typeof options.create !== "function") {
    throw invalid(`Component ${provider} has ${describe(options.create)} as create. Pass a function.`)
  }
  if (!Number.isInteger(version) || version < 1) {
    throw invalid(`Version ${describe(version)} of component ${provider} is not a whole number from 1.`)
  }
  const problem = schemaProblem(options.config)
  if (problem !== undefined) throw invalid(`The configuration of component ${provider}: ${problem}`)
  return {
    provider,
    aliases,
    type,
    version,
    get configSchema() {
      return jsonSchema(provider, options.config)
    },
    dump(config, about = {}) {
      checkConfig(provider, options.config, config)
      return {
        provider,
        component_type: type,
        version: ENVELOPE_VERSION,
        component_version: version,
        description: about.description ?? options.description ?? null,
        label: about.label ?? provider.slice(provider.lastIndexOf(".") + 1),
        config: copyJson(provider, config),
      }
    },
    create(config, from, loader) {
      const current = upgrade(provider, config, from, version, upgrades)
      const checked = checkConfig(provider, options.config, current)
      try {
        return options.create(checked, loader)
      } catch (cause) {
        // A component inside this one has said already what is wrong.
        if (GloveboxError.is(cause)) throw cause
        throw invalid(`Component ${provider} could not be made: ${errorMessage(cause)}`, cause)
      }
    },
  }
}

function upgrade(
  provider: string,
  config: Record<string, unknown>,
  from: number,
  to: number,
  upgrades: NonNullable<ComponentOptions<ConfigSchema, unknown>["upgrades"]>,
): Record<string, unknown> {
  if (from > to) {
    throw unsupported(
      `Component ${provider} has a configuration of version ${from}; this release knows up to ${to}.`,
    )
  }
  let current = config
  for (let version = from; version < to; version += 1) {
    const step = upgrades[version]
    if (!step)
      throw unsupported(
        `Component ${provider} cannot upgrade a configuration of version ${version} to ${to}.`,
      )
    try {
      current = step(current)
    } catch (cause) {
      // The step saw data that no schema has checked.
      throw invalid(
        `The configuration of component ${provider} cannot be upgraded from version ${version}: ${errorMessage(cause)}`,
        cause,
      )
    }
  }
  return current
}

function checkConfig<Schema extends ConfigSchema>(
  provider: string,
  schema: Schema,
  config: unknown,
): StandardSchemaV1.InferOutput<Schema> {
  const result = validateSync(schema, config)
  if (!result.issues) return result.value
  throw invalid(`The configuration of component ${provider} is not valid: ${formatIssues(result.issues)}`)
}

function jsonSchema(provider: string, schema: ConfigSchema): Readonly<Record<string, unknown>> {
  try {
    return schema["~standard"].jsonSchema.input({ target: "draft-2020-12" })
  } catch (cause) {
    throw invalid(
      `The configuration of component ${provider} has no JSON Schema: ${errorMessage(cause)}`,
      cause,
    )
  }
}

function copyJson(provider: string, config: unknown): Record<string, unknown> {
  try {
    if (typeof config !== "object" || config === null || Array.isArray(config)) {
      throw new TypeError(`${describe(config)} is not an object`)
    }
    checkJson(config)
    return JSON.parse(JSON.stringify(config)) as Record<string, unknown>
  } catch (cause) {
    throw invalid(
      `The configuration of component ${provider} cannot be written as JSON: ${errorMessage(cause)}`,
      cause,
    )
  }
}

function invalid(message: string, cause?: unknown): GloveboxError {
  return new GloveboxError("COMPONENT_INVALID", message, cause === undefined ? undefined : { cause })
}

function unsupported(message: string): GloveboxError {
  return new GloveboxError("COMPONENT_VERSION_UNSUPPORTED", message)
}
