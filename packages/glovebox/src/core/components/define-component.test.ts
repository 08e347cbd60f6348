import { describe, expect, expectTypeOf, it } from "vitest"
import { z } from "zod"
import { failureOf } from "../failure-of.test-kit.ts"
import { type ComponentModel, componentModelSchema } from "./component-model.ts"
import { ComponentRegistry } from "./component-registry.ts"
import { type ComponentOptions, defineComponent } from "./define-component.ts"

interface Greeting {
  readonly names: readonly string[]
  readonly loud: boolean
}

const config = z.object({ names: z.array(z.string()), loud: z.boolean().default(false) })

/** A greeter; its first version had one `name`, its second `people`. */
function greeter(
  options: Partial<ComponentOptions<typeof config, Greeting>> = {},
): ReturnType<typeof define> {
  return define(options)
}

const define = (options: Partial<ComponentOptions<typeof config, Greeting>>) =>
  defineComponent({
    provider: "example.Greeter",
    type: "agent",
    version: 3,
    config,
    create: (given): Greeting => given,
    upgrades: {
      1: ({ name, ...rest }) => ({ ...rest, people: [name] }),
      2: ({ people, ...rest }) => ({ ...rest, names: people }),
    },
    ...options,
  })

function load(model: Partial<ComponentModel>, definition = greeter()): unknown {
  return new ComponentRegistry([definition]).load({ provider: "example.Greeter", ...model })
}

describe("defineComponent", () => {
  it("types the configuration by the schema's input, and the component by its factory", () => {
    type Dumped = Parameters<ReturnType<typeof greeter>["dump"]>[0]
    expectTypeOf<Dumped>().toEqualTypeOf<{ names: string[]; loud?: boolean | undefined }>()
    expectTypeOf<ReturnType<ReturnType<typeof greeter>["create"]>>().toEqualTypeOf<Greeting>()
    expect(greeter()).toMatchObject({ provider: "example.Greeter", type: "agent", version: 3, aliases: [] })
  })

  it.each(["", "a b", "a\n", "a:b", "file:///x.js", undefined, null, 1])("refuses the name %j", (name) => {
    const message = /^COMPONENT_INVALID: Component name .* is not valid\. Use/
    expect(failureOf(() => greeter({ provider: name as never }))).toMatch(message)
    expect(failureOf(() => greeter({ aliases: ["fine", name as never] }))).toMatch(message)
  })

  it.each([0, -1, 1.5, Number.NaN, "2", null])("refuses the version %j", (version) => {
    expect(failureOf(() => greeter({ version: version as never }))).toMatch(
      /^COMPONENT_INVALID: Version .* of component example\.Greeter/,
    )
  })

  it("refuses a configuration that is not a schema", () => {
    expect(failureOf(() => greeter({ config: {} as never }))).toMatch(/^COMPONENT_INVALID: .* not a schema/)
  })
})

describe("ComponentDefinition.configSchema", () => {
  it("is the JSON Schema of what may be given", () => {
    expect(greeter().configSchema).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        names: { type: "array", items: { type: "string" } },
        loud: { type: "boolean", default: false },
      },
      required: ["names"],
    })
  })

  it("is refused when the schema has no JSON form", () => {
    const odd = defineComponent({
      provider: "odd",
      type: "x",
      config: z.object({ at: z.date() }),
      create: () => 1,
    })
    expect(failureOf(() => odd.configSchema)).toMatch(/^COMPONENT_INVALID: .*odd has no JSON Schema: .*Date/)
  })
})

describe("ComponentDefinition.dump", () => {
  it("writes AutoGen's fields", () => {
    const model = greeter({ description: "Greets." }).dump({ names: ["Ada"] })
    expect(model).toEqual({
      provider: "example.Greeter",
      component_type: "agent",
      version: 1,
      component_version: 3,
      description: "Greets.",
      label: "Greeter",
      config: { names: ["Ada"] },
    })
    expect(componentModelSchema.parse(model)).toEqual(model)
  })

  it("takes a description and a label of the one component first", () => {
    const about = { description: "Greets Ada.", label: "ada" }
    expect(greeter({ description: "Greets." }).dump({ names: [] }, about)).toMatchObject(about)
    expect(greeter().dump({ names: [] }).description).toBeNull()
  })

  it("copies the configuration", () => {
    const names = ["Ada"]
    const model = greeter().dump({ names })
    names.push("Eve")
    expect(model.config).toEqual({ names: ["Ada"] })
  })

  it("refuses an invalid configuration, and says where", () => {
    // @ts-expect-error names are text
    expect(failureOf(() => greeter().dump({ names: [1] }))).toMatch(
      /^COMPONENT_INVALID: The configuration of component example\.Greeter is not valid: names\.0: /,
    )
  })

  it.each<[string, unknown, RegExp]>([
    ["a function", { when: () => true }, /when is (a )?function/],
    ["a Date", { when: new Date(0) }, /when is a Date/],
    ["NaN", { when: Number.NaN }, /when is NaN/],
    ["a list", [1], /\[1\] is not an object/],
    ["text", "text", /"text" is not an object/],
    ["nothing", undefined, /undefined is not an object/],
  ])("refuses a configuration with %s, which is not JSON", (_, value, message) => {
    const open = defineComponent({ provider: "open", type: "x", config: z.any(), create: () => 1 })
    const failure = failureOf(() => open.dump(value))
    expect(failure).toMatch(/^COMPONENT_INVALID: .*open cannot be written as JSON: /)
    expect(failure).toMatch(message)
  })

  it("refuses an asynchronous schema", () => {
    const slow = defineComponent({
      provider: "slow",
      type: "x",
      config: z.object({}).refine(async () => true),
      create: () => 1,
    })
    expect(failureOf(() => slow.dump({}))).toMatch(/^COMPONENT_INVALID: .*checks asynchronously/)
  })
})

describe("a component of an earlier version", () => {
  it("is upgraded step by step, then checked by today's schema", () => {
    const today = { names: ["Ada"], loud: false }
    expect(load({ component_version: 1, config: { name: "Ada" } })).toEqual(today)
    expect(load({ component_version: 2, config: { people: ["Ada"] } })).toEqual(today)
    expect(load({ component_version: 3, config: { names: ["Ada"] } })).toEqual(today)
    expect(failureOf(() => load({ component_version: 1, config: { name: 1 } }))).toMatch(
      /^COMPONENT_INVALID: .*names\.0/,
    )
  })

  it("is taken for today's when it names no version", () => {
    expect(load({ config: { names: [] } })).toEqual({ names: [], loud: false })
    expect(load({ component_version: null, config: { names: [] } })).toEqual({ names: [], loud: false })
  })

  it("is refused when a step is missing", () => {
    const definition = greeter({ upgrades: { 1: (given) => given } })
    expect(failureOf(() => load({ component_version: 1, config: {} }, definition))).toMatch(
      /^COMPONENT_VERSION_UNSUPPORTED: .*cannot upgrade a configuration of version 2 to 3/,
    )
    const none = greeter({ upgrades: undefined })
    expect(failureOf(() => load({ component_version: 1, config: {} }, none))).toMatch(
      /^COMPONENT_VERSION_UNSUPPORTED: .*version 1 to 3/,
    )
  })

  it("is refused with a typed error when a step fails on its data", () => {
    const definition = greeter({
      upgrades: { 2: ({ people }) => ({ names: (people as string[]).map(String) }) },
    })
    expect(failureOf(() => load({ component_version: 2, config: { people: 5 } }, definition))).toMatch(
      /^COMPONENT_INVALID: .*cannot be upgraded from version 2: .*map/,
    )
  })

  it("is refused when it is not earlier but later", () => {
    expect(failureOf(() => load({ component_version: 4, config: { names: [] } }))).toMatch(
      /^COMPONENT_VERSION_UNSUPPORTED: .*version 4; this release knows up to 3/,
    )
  })
})
