import * as v from "valibot"
import { describe, expect, expectTypeOf, it } from "vitest"
import { z } from "zod"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { type ToolContext, type ToolOptions, tool, toolResultText } from "./index.ts"
import type { ToolParameters } from "./tool-parameters.ts"

const weather = tool({
  name: "weather",
  description: "Current weather in a city",
  parameters: z.object({ city: z.string(), units: z.enum(["c", "f"]).default("c") }),
  execute: ({ city, units }) => `21 ${units} in ${city}`,
})

function returning(value: unknown): ReturnType<typeof tool> {
  return tool({ name: "it", description: "Returns it", execute: () => value })
}

describe("tool's schema", () => {
  it("is that of the parameters as a model writes them: what has a default may be left out", () => {
    expect(weather.schema).toEqual({
      name: "weather",
      description: "Current weather in a city",
      strict: false,
      parameters: {
        type: "object",
        properties: { city: { type: "string" }, units: { type: "string", enum: ["c", "f"], default: "c" } },
        required: ["city"],
      },
    })
  })

  it("keeps definitions that the parameters refer to", () => {
    interface Tree {
      readonly name: string
      readonly children: readonly Tree[]
    }
    const tree: z.ZodType<Tree> = z.lazy(() => z.object({ name: z.string(), children: z.array(tree) }))
    const { schema } = tool({
      name: "plant",
      description: "Plants a tree",
      parameters: z.object({ tree }),
      execute: ({ tree: { name } }) => name,
    })
    expect(JSON.stringify(schema.parameters)).toMatch(/"\$ref":"#\/\$defs\/\w+".*"\$defs":/)
  })

  it("is a copy of plain JSON Schema, against which the arguments are checked", async () => {
    const parameters = {
      type: "object",
      properties: { sides: { type: "array", items: { $ref: "#/$defs/side" }, minItems: 3 } },
      required: ["sides"],
      additionalProperties: false,
      $defs: { side: { type: "number", exclusiveMinimum: 0 } },
    }
    const shape = tool({
      name: "shape",
      description: "Its perimeter",
      parameters,
      execute: ({ sides }) => (sides as number[]).reduce((sum, side) => sum + side, 0),
    })
    expect(shape.schema.parameters).toEqual(parameters)
    expect(await shape.run({ sides: [3, 4, 5] })).toMatchObject({
      result: [{ content: "12" }],
      isError: false,
    })
    const refused = await shape.run({ sides: [3, -4, "5"], color: "red" })
    expect(refused.isError).toBe(true)
    expect(toolResultText(refused)).toMatch(/sides\.1: -4 .*sides\.2: .*"number".*color/)
  })

  it("has no arguments when there are no parameters", async () => {
    expect(returning("x").schema.parameters).toEqual({
      type: "object",
      properties: {},
      additionalProperties: false,
    })
    expect(await returning("x").run(undefined)).toMatchObject({ isError: false })
    expect(await returning("x").run({ extra: 1 })).toMatchObject({ isError: true })
  })

  it("takes any library that has Standard JSON Schema", async () => {
    const standard = {
      version: 1 as const,
      vendor: "mine",
      validate: (value: unknown) => ({ value: { n: Number((value as { n: string }).n) } }),
      types: undefined as { input: { n: string }; output: { n: number } } | undefined,
      jsonSchema: {
        input: () => ({ type: "object", properties: { n: { type: "string" } } }),
        output: () => ({}),
      },
    }
    const doubled = tool({
      name: "double",
      description: "Doubles",
      parameters: { "~standard": standard },
      execute: ({ n }) => 2 * n,
    })
    expect(toolResultText(await doubled.run({ n: "21" }))).toBe("42")
  })

  it.each<[string, unknown, RegExp]>([
    [
      "a library without JSON Schema",
      v.object({ a: v.string() }),
      /a schema of "valibot" .*gives no JSON Schema\. Use zod 4/,
    ],
    ["a shape", { city: z.string() }, /an object of schemas.*z\.object/],
    ["a schema of text", z.string(), /an object of named arguments, and this is "string"/],
    ["a union", z.union([z.object({}), z.object({ a: z.string() })]), /and this is "anyOf"/],
    ["what JSON Schema cannot say", z.object({ at: z.date() }), /cannot be told as JSON Schema: .*Date/],
    ["no schema", "city", /"city" is no schema/],
    ["a class", new Map(), /a Map is no schema/],
  ])("refuses %s as parameters", (_, parameters, message) => {
    const failure = failureOf(() =>
      tool({ name: "t", description: "d", parameters: parameters as ToolParameters, execute: () => 1 }),
    )
    expect(failure).toMatch(/^TOOL_INVALID: The parameters of tool t cannot be used: /)
    expect(failure).toMatch(message)
  })

  it.each<[string, object, RegExp]>([
    ["a name with a space", { name: "my tool" }, /"my tool" is no name for a tool/],
    ["a long name", { name: "x".repeat(65) }, /at most 64/],
    ["no description", { description: "" }, /description: is empty/],
    ["no function", { execute: "print" }, /execute: must be a function/],
    [
      "an option that is none",
      { parameter: z.object({}) },
      /parameter is not an option; did you mean parameters\?/,
    ],
    ["a risk that is none", { risk: "none" }, /risk: /],
  ])("refuses %s", (_, change, message) => {
    const options = {
      name: "t",
      description: "d",
      execute: () => 1,
      ...change,
    } as ToolOptions<ToolParameters>
    expect(failureOf(() => tool(options))).toMatch(new RegExp(`^TOOL_INVALID: .*${message.source}`))
  })
})

describe("tool's strict mode", () => {
  const base = { name: "t", description: "d", strict: true, execute: () => 1 }

  it("closes every object, however deep", () => {
    const parameters = z.object({
      who: z.object({ name: z.string() }),
      tags: z.array(z.object({ t: z.string() })),
    })
    const { schema } = tool({ ...base, parameters })
    expect(schema).toMatchObject({
      strict: true,
      parameters: {
        additionalProperties: false,
        properties: {
          who: { additionalProperties: false, required: ["name"] },
          tags: { items: { additionalProperties: false } },
        },
      },
    })
  })

  it("closes objects under any name, and those that may be null", () => {
    const object = { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
    const names = ["default", "enum", "const", "required", "type", "properties"]
    const parameters = {
      type: "object",
      properties: {
        ...Object.fromEntries(names.map((name) => [name, object])),
        or: { ...object, type: ["object", "null"] },
      },
      required: [...names, "or"],
    }
    const { properties } = tool({ ...base, parameters }).schema.parameters as Record<string, object>
    for (const name of [...names, "or"]) {
      expect(properties, name).toHaveProperty([name, "additionalProperties"], false)
    }
  })

  it("refuses what it does not have, when the tool is made", () => {
    const optional = z.object({ who: z.object({ name: z.string().optional() }) })
    expect(failureOf(() => tool({ ...base, parameters: optional }))).toMatch(
      /^TOOL_INVALID: Tool t cannot be strict: name of who may be absent\. Make it required, and let it be null/,
    )
    expect(failureOf(() => tool({ ...base, parameters: z.looseObject({}) }))).toMatch(
      /takes fields that it does not name/,
    )
  })
})

describe("tool's arguments", () => {
  it("reach the function as the schema makes them, with their types", async () => {
    tool({
      ...weather.schema,
      description: "d",
      parameters: z.object({ n: z.number(), at: z.string().transform(Number) }),
      execute: (args, context) => {
        expectTypeOf(args).toEqualTypeOf<{ n: number; at: number }>()
        expectTypeOf(context).toEqualTypeOf<ToolContext>()
      },
    })
    expect(toolResultText(await weather.run({ city: "Rome" }))).toBe("21 c in Rome")
  })

  it("that do not fit are an answer which a model can correct", async () => {
    const result = await weather.run({ city: 5, units: "k" })
    expect(result.isError).toBe(true)
    expect(toolResultText(result)).toBe(
      'The arguments of weather are not valid: city: Invalid input: expected string, received number; units: Invalid option: expected one of "c"|"f". Correct them and call it again.',
    )
  })

  it("may be checked asynchronously, and a check that throws is about them", async () => {
    const taken = z.object({ name: z.string().refine(async (name) => name !== "root", "is taken") })
    const options = { name: "t", description: "d", execute: () => "ok" }
    expect(toolResultText(await tool({ ...options, parameters: taken }).run({ name: "root" }))).toContain(
      "name: is taken",
    )
    const throwing = z.object({ url: z.string().transform((text) => new URL(text).host) })
    expect(toolResultText(await tool({ ...options, parameters: throwing }).run({ url: "x" }))).toContain(
      "Invalid URL",
    )
  })
})

describe("tool's errors", () => {
  const failing = (errors?: ToolOptions<ToolParameters>["errors"]): ReturnType<typeof tool> =>
    tool({
      name: "fails",
      description: "d",
      errors,
      execute: () => {
        throw new RangeError("no such city")
      },
    })

  it("are results, unless they are said to be fatal", async () => {
    expect(await failing().run({})).toMatchObject({ isError: true, result: [{ content: "no such city" }] })
    await expectFailure(failing("fatal").run({}), "TOOL_FAILED", /Tool fails failed: no such city/)
    const byKind = failing((error) => (error instanceof RangeError ? "fatal" : "result"))
    await expect(byKind.run({})).rejects.toHaveProperty("cause", new RangeError("no such city"))
  })

  it("of a group tell every one", async () => {
    const both = tool({
      name: "t",
      description: "d",
      execute: () => {
        throw new AggregateError([new Error("one"), new Error("two")])
      },
    })
    expect(toolResultText(await both.run({}))).toBe("one; two")
  })
})

describe("tool.run's signal", () => {
  it("ends the call with its reason, also when the tool does not listen", async () => {
    const controller = new AbortController()
    const reason = new Error("enough")
    const deaf = tool({
      name: "deaf",
      description: "d",
      errors: "result",
      execute: async () => {
        controller.abort(reason)
        await new Promise(() => {})
      },
    })
    await expect(deaf.run({}, { signal: controller.signal })).rejects.toBe(reason)
    await expect(deaf.run({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  it("is the tool's, with the id of the call", async () => {
    const controller = new AbortController()
    const listening = tool({
      name: "t",
      description: "d",
      execute: async (_args, { signal, callId }) => {
        const aborted = new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(new Error(`${callId} cleaned up`))),
        )
        controller.abort("stop")
        await aborted
      },
    })
    await expect(listening.run({}, { signal: controller.signal, callId: "7" })).rejects.toBe("stop")
  })
})

describe("tool.stream", () => {
  const counting = (seen: string[] = []): ReturnType<typeof tool> =>
    tool({
      name: "count",
      description: "Counts",
      async *execute(_args, { signal }) {
        try {
          yield "one"
          yield { n: 2 }
          return "done"
        } finally {
          seen.push(signal.aborted ? "aborted" : "ended")
        }
      },
    })

  it("yields what the tool tells, and the result last", async () => {
    const items = []
    for await (const item of counting().stream({})) items.push(item)
    expect(items).toEqual([
      { type: "ToolChunk", name: "count", content: { type: "TextResultContent", content: "one" } },
      { type: "ToolChunk", name: "count", content: { type: "TextResultContent", content: '{"n":2}' } },
      {
        type: "ToolResult",
        name: "count",
        result: [{ type: "TextResultContent", content: "done" }],
        isError: false,
      },
    ])
    expect(await counting().run({})).toEqual(items.at(-1))
  })

  it("yields one result for a tool that does not stream", async () => {
    const items = []
    for await (const item of weather.stream({ city: "Rome" })) items.push(item.type)
    expect(items).toEqual(["ToolResult"])
  })

  it("ends the tool when the loop is left", async () => {
    const seen: string[] = []
    for await (const item of counting(seen).stream({})) if (item.type === "ToolChunk") break
    await expect.poll(() => seen).toHaveLength(1)
  })

  it("keeps what came before an error", async () => {
    const broken = tool({
      name: "t",
      description: "d",
      async *execute() {
        yield "half"
        throw new Error("broke")
      },
    })
    const items = []
    for await (const item of broken.stream({})) items.push(item)
    expect(items).toMatchObject([{ type: "ToolChunk" }, { isError: true, result: [{ content: "broke" }] }])
  })
})
