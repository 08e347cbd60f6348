import { describe } from "../../internal/describe.ts"
import { GloveboxError } from "../glovebox-error.ts"
import type { ComponentModel } from "./component-model.ts"
import type { ComponentLoader } from "./define-component.ts"

/** A kind of component that others have inside: how it is written into their data, and made again from it. */
export interface ComponentPart<T> {
  /** Writes it down; `option` is the option that it was given as, for the error when it cannot be. */
  dump(value: T, option: string): ComponentModel
  /** Makes it from data, and checks that it is of this kind. */
  load(model: unknown, loader: ComponentLoader): T
}

/** A kind of component that is told by its methods, as interfaces are: whoever has them all will do. */
export function componentPart<T extends object>(
  what: string,
  methods: readonly (keyof T & string)[],
): ComponentPart<T> {
  return {
    dump(value, option) {
      if (hasMethod(value, "toComponent")) return value.toComponent() as ComponentModel
      throw new GloveboxError(
        "COMPONENT_INVALID",
        `${option} is a ${what} that cannot be written down: it has no toComponent(). Use one that has, or add it.`,
      )
    },
    load(model, loader) {
      const made = loader.load(model)
      if (methods.every((method) => hasMethod(made, method))) return made as T
      throw new GloveboxError(
        "COMPONENT_INVALID",
        `Component ${providerOf(model)} is no ${what}, which is needed here.`,
      )
    },
  }
}

function hasMethod<Name extends string>(
  value: unknown,
  name: Name,
): value is Record<Name, (...args: unknown[]) => unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    name in value &&
    typeof value[name as keyof typeof value] === "function"
  )
}

function providerOf(model: unknown): string {
  return describe((model as { readonly provider?: unknown }).provider)
}
