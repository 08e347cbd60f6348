import { describe } from "../../internal/describe.ts"
import { formatIssues } from "../../internal/format-issues.ts"
import { nearest } from "../../internal/nearest.ts"
import { GloveboxError } from "../glovebox-error.ts"
import { type ComponentModel, ENVELOPE_VERSION, componentModelSchema } from "./component-model.ts"
import type { ComponentDefinition, ComponentLoader } from "./define-component.ts"

// Components nest a few levels; a document that nests further was made to exhaust the stack.
const MAX_DEPTH = 64

/** The kinds of components a program is willing to make from data: a table, never an import. */
export class ComponentRegistry {
  readonly #byName = new Map<string, ComponentDefinition<never>>()

  constructor(definitions: readonly ComponentDefinition<never>[] = []) {
    for (const definition of definitions) this.add(definition)
  }

  add(definition: ComponentDefinition<never>): this {
    const names = [definition.provider, ...definition.aliases]
    const taken = names.find((name) => this.#byName.has(name) && this.#byName.get(name) !== definition)
    if (taken !== undefined) {
      throw new GloveboxError(
        "COMPONENT_ALREADY_REGISTERED",
        `The component name "${taken}" is taken. Register each name once.`,
      )
    }
    for (const name of names) this.#byName.set(name, definition)
    return this
  }

  /** The names that can be loaded, without aliases. */
  get providers(): readonly string[] {
    return [...new Set([...this.#byName.values()].map(({ provider }) => provider))]
  }

  /** The JSON Schema of a component's configuration. */
  configSchema(provider: string): Readonly<Record<string, unknown>> {
    return this.#find(provider).configSchema
  }

  /** Makes a component from data; with a class, checks that it is one of those. */
  load(model: unknown): unknown
  load<T>(model: unknown, expected: abstract new (...args: never) => T): T
  load(model: unknown, expected?: abstract new (...args: never) => unknown): unknown {
    return this.#load(model, expected, 0)
  }

  #load(
    source: unknown,
    expected: (abstract new (...args: never) => unknown) | undefined,
    depth: number,
  ): unknown {
    if (depth > MAX_DEPTH) throw invalid(`Components are nested more than ${MAX_DEPTH} deep.`)
    const model = parseModel(source)
    if ((model.version ?? ENVELOPE_VERSION) > ENVELOPE_VERSION) {
      throw new GloveboxError(
        "COMPONENT_VERSION_UNSUPPORTED",
        `Component ${describe(model.provider)} is written in version ${model.version} of the format; ` +
          `this release knows up to ${ENVELOPE_VERSION}.`,
      )
    }
    const definition = this.#find(model.provider)
    if (model.component_type && model.component_type !== definition.type) {
      throw invalid(
        `Component ${model.provider} is a ${definition.type}, but the data calls it a ${describe(model.component_type)}.`,
      )
    }
    const known = (): readonly string[] => this.providers
    const loader: ComponentLoader = {
      get providers() {
        return known()
      },
      load: (inner: unknown, kind?: abstract new (...args: never) => unknown) =>
        this.#load(inner, kind, depth + 1) as never,
    }
    const made = definition.create(model.config, model.component_version ?? definition.version, loader)
    if (expected && !(made instanceof expected)) {
      throw invalid(`Component ${model.provider} is not a ${expected.name}, which is needed here.`)
    }
    return made
  }

  #find(provider: string): ComponentDefinition<never> {
    const definition = this.#byName.get(provider)
    if (definition) return definition
    const known = this.providers
    const hint = typeof provider === "string" ? nearest(provider, [...this.#byName.keys()]) : undefined
    throw new GloveboxError(
      "COMPONENT_UNKNOWN",
      `No component ${describe(provider)} is registered.${hint === undefined ? "" : ` Did you mean "${hint}"?`} ` +
        `Known: ${known.join(", ") || "none"}.`,
    )
  }
}

function parseModel(source: unknown): ComponentModel {
  const result = componentModelSchema.safeParse(source)
  if (result.success) return result.data
  throw invalid(`This is not a component: ${formatIssues(result.error.issues)}`)
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("COMPONENT_INVALID", message)
}
