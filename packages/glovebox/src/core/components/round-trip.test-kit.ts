import { expect } from "vitest"
import type { Component, ComponentModel } from "./component-model.ts"
import type { ComponentRegistry } from "./component-registry.ts"

/** Writes a component down, makes it again through JSON, and expects the same to be written then; gives the new one. */
export function roundTrip<T extends Component>(registry: ComponentRegistry, component: T): T {
  const text = JSON.stringify(component.toComponent())
  const made = registry.load(JSON.parse(text)) as T
  expect(JSON.parse(JSON.stringify(made.toComponent()))).toEqual(JSON.parse(text))
  return made
}

/** The configuration as data. */
export function configOf(component: Component): ComponentModel["config"] {
  return (JSON.parse(JSON.stringify(component.toComponent())) as ComponentModel).config
}
