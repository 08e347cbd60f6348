import fc from "fast-check"
import { describe, expect, expectTypeOf, it } from "vitest"
import { z } from "zod"
import { failureOf } from "../failure-of.test-kit.ts"
import type { Component, ComponentModel } from "./component-model.ts"
import { ComponentRegistry } from "./component-registry.ts"
import { type ComponentDefinition, defineComponent } from "./define-component.ts"

class Leaf implements Component {
  readonly note: unknown

  constructor(note: unknown) {
    this.note = note
  }

  toComponent(): ComponentModel {
    return leaf.dump({ note: this.note })
  }
}

class Group implements Component {
  readonly members: readonly Component[]

  constructor(members: readonly Component[]) {
    this.members = members
  }

  toComponent(): ComponentModel {
    return group.dump({ members: this.members.map((member) => member.toComponent()) })
  }
}

const leaf = defineComponent({
  provider: "example.Leaf",
  aliases: ["autogen.leaves.Leaf"],
  type: "leaf",
  config: z.object({ note: z.unknown() }),
  create: ({ note }) => new Leaf(note),
})

const group: ComponentDefinition<{ members: unknown[] }, Group> = defineComponent({
  provider: "example.Group",
  type: "group",
  config: z.object({ members: z.array(z.unknown()) }),
  create: ({ members }, loader) => new Group(members.map((member) => loader.load(member) as Component)),
})

const registry = new ComponentRegistry([leaf, group])
const model = { provider: "example.Leaf", config: { note: "hi" } }

describe("ComponentRegistry.load", () => {
  it("makes a component of a provider and a configuration alone", () => {
    expect(registry.load(model)).toEqual(new Leaf("hi"))
    const nulls = {
      component_type: null,
      version: null,
      component_version: null,
      description: null,
      label: null,
    }
    expect(registry.load({ ...model, ...nulls })).toEqual(new Leaf("hi"))
  })

  it("makes it by an alias too, and writes the provider's own name", () => {
    const made = registry.load({ ...model, provider: "autogen.leaves.Leaf" }, Leaf)
    expectTypeOf(made).toEqualTypeOf<Leaf>()
    expect(made.toComponent().provider).toBe("example.Leaf")
  })

  it("makes an equal component of what toComponent wrote, through JSON, however nested", () => {
    const tree = fc.letrec<{ tree: Component }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.jsonValue({ maxDepth: 1 }).map((note) => new Leaf(note)),
        fc.array(tie("tree"), { maxLength: 3 }).map((members) => new Group(members)),
      ),
    })).tree
    fc.assert(
      fc.property(tree, (made) => {
        const written = JSON.stringify(made.toComponent())
        const again = registry.load(JSON.parse(written)) as Component
        expect(again.constructor).toBe(made.constructor)
        expect(JSON.stringify(again.toComponent())).toBe(written)
      }),
      { numRuns: 50 },
    )
  })

  it("checks the class that is expected, at the top and inside", () => {
    expect(failureOf(() => registry.load(model, Group))).toMatch(
      /^COMPONENT_INVALID: Component example\.Leaf is not a Group/,
    )
    const strict = defineComponent({
      provider: "example.Strict",
      type: "group",
      config: z.object({ member: z.unknown() }),
      create: ({ member }, loader) => loader.load(member, Group),
    })
    const outer = { provider: "example.Strict", config: { member: model } }
    expect(failureOf(() => new ComponentRegistry([leaf, strict]).load(outer))).toMatch(/Leaf is not a Group/)
  })

  it("refuses an unknown provider, lists the known ones and suggests the nearest", () => {
    expect(failureOf(() => registry.load({ provider: "example.Laef", config: {} }))).toBe(
      'COMPONENT_UNKNOWN: No component "example.Laef" is registered. Did you mean "example.Leaf"? ' +
        "Known: example.Leaf, example.Group.",
    )
    expect(failureOf(() => new ComponentRegistry().load(model))).toBe(
      'COMPONENT_UNKNOWN: No component "example.Leaf" is registered. Known: none.',
    )
  })

  it.each([
    "node:fs",
    "fs",
    "./component-registry.ts",
    import.meta.filename,
    "test_evil.Leaf",
    "data:text/javascript,globalThis.polluted=1",
    "() => { Object.prototype.polluted = 1 }",
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "x".repeat(100),
  ])("neither imports nor evaluates the provider %s", (provider) => {
    const failure = failureOf(() => registry.load({ provider, config: {} }))
    expect(failure).toMatch(/^COMPONENT_UNKNOWN/)
    // Every object would have it, and the global one too.
    expect(globalThis).not.toHaveProperty("polluted")
  })

  it("shows the start of a long provider only", () => {
    const provider = "x".repeat(1_000_000)
    expect(failureOf(() => registry.load({ provider, config: {} })).length).toBeLessThan(250)
  })

  it("takes a name from every object as a provider like any other", () => {
    const odd = defineComponent({
      provider: "__proto__",
      type: "x",
      config: z.object({}),
      create: () => "made",
    })
    expect(new ComponentRegistry([odd]).load({ provider: "__proto__", config: {} })).toBe("made")
  })

  it("keeps keys __proto__, constructor and prototype in a configuration from doing harm", () => {
    const evil =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1}}'
    const text = `{"provider":"example.Leaf","__proto__":{"polluted":1},"config":{"note":${evil},"__proto__":{"polluted":1}}}`
    const made = registry.load(JSON.parse(text), Leaf)
    expect({}).not.toHaveProperty("polluted")
    expect(made).not.toHaveProperty("polluted")
    expect(made.note).not.toHaveProperty("polluted")
    expect(JSON.stringify(made.toComponent().config)).toBe(`{"note":${evil}}`)
  })

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["text", JSON.stringify(model)],
    ["a list", [model]],
    ["no provider", { config: {} }],
    ["an empty provider", { ...model, provider: "" }],
    ["a provider that is not text", { ...model, provider: { toString: () => "example.Leaf" } }],
    ["no configuration", { provider: "example.Leaf" }],
    ["a configuration that is a list", { ...model, config: [] }],
    ["a component version of 0", { ...model, component_version: 0 }],
    ["half a component version", { ...model, component_version: 1.5 }],
    ["a component version in text", { ...model, component_version: "1" }],
  ])("refuses %s", (_, value) => {
    expect(failureOf(() => registry.load(value))).toMatch(/^COMPONENT_INVALID: This is not a component: /)
  })

  it("refuses data that calls the component something it is not", () => {
    expect(registry.load({ ...model, component_type: "leaf" })).toBeInstanceOf(Leaf)
    expect(failureOf(() => registry.load({ ...model, component_type: "agent" }))).toMatch(
      /^COMPONENT_INVALID: Component example\.Leaf is a leaf, but the data calls it a "agent"/,
    )
  })

  it("refuses a later version of the format itself", () => {
    expect(registry.load({ ...model, version: 1 })).toBeInstanceOf(Leaf)
    expect(failureOf(() => registry.load({ ...model, version: 2 }))).toMatch(
      /^COMPONENT_VERSION_UNSUPPORTED: .*version 2 of the format; this release knows up to 1/,
    )
  })

  it("takes 64 levels of components inside one another, and refuses more", () => {
    expect(registry.load(nested(64))).toBeInstanceOf(Group)
    expect(failureOf(() => registry.load(nested(65)))).toMatch(/^COMPONENT_INVALID: .*more than 64 deep/)
    expect(failureOf(() => registry.load(nested(100_000)))).toMatch(/^COMPONENT_INVALID: .*more than 64 deep/)
  })

  it("does not change the data, so that it can be loaded again", () => {
    const data = JSON.parse(JSON.stringify(new Group([new Leaf([1])]).toComponent())) as ComponentModel
    const before = structuredClone(data)
    registry.load(data)
    expect(data).toEqual(before)
  })
})

describe("ComponentRegistry.add", () => {
  it("takes a definition twice, but no other under a name that is taken", () => {
    const own = new ComponentRegistry().add(leaf).add(leaf)
    expect(own.providers).toEqual(["example.Leaf"])
    const options = { type: "x", config: z.object({}), create: () => 1 }
    const clashes = [
      defineComponent({ ...options, provider: "example.Leaf" }),
      defineComponent({ ...options, provider: "autogen.leaves.Leaf" }),
      defineComponent({ ...options, provider: "other", aliases: ["example.Leaf"] }),
    ]
    for (const clash of clashes) {
      expect(failureOf(() => own.add(clash))).toMatch(/^COMPONENT_ALREADY_REGISTERED: .*Leaf" is taken/)
    }
    // A refused definition leaves none of its names behind.
    expect(own.providers).toEqual(["example.Leaf"])
    expect(failureOf(() => own.load({ provider: "other", config: {} }))).toMatch(/^COMPONENT_UNKNOWN/)
  })
})

describe("ComponentRegistry.configSchema", () => {
  it("gives the JSON Schema by name or alias, or says what is known", () => {
    expect(registry.configSchema("example.Group")).toMatchObject({
      properties: { members: { type: "array" } },
    })
    expect(registry.configSchema("autogen.leaves.Leaf")).toEqual(leaf.configSchema)
    expect(failureOf(() => registry.configSchema("nope"))).toMatch(
      /^COMPONENT_UNKNOWN: .*Known: example\.Leaf/,
    )
    expect(failureOf(() => registry.configSchema(undefined as never))).toMatch(
      /^COMPONENT_UNKNOWN: .*undefined/,
    )
  })
})

function nested(levels: number): unknown {
  let value: unknown = model
  for (let level = 0; level < levels; level += 1)
    value = { provider: "example.Group", config: { members: [value] } }
  return value
}
