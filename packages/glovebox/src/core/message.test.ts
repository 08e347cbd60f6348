import type { StandardSchemaV1 } from "@standard-schema/spec"
import { inspect } from "node:util"
import { describe, expect, expectTypeOf, it } from "vitest"
import { z } from "zod"
import { failureOf } from "./failure-of.test-kit.ts"
import {
  type AnyMessageType,
  type Message,
  type MessageType,
  checkMessage,
  checkMessageType,
  defineMessage,
  isMessage,
  messageTypeOf,
} from "./message.ts"

const Note = defineMessage(
  "Note",
  z.object({
    text: z.string(),
    stars: z.number().default(1),
    tags: z.string().transform((tags) => tags.split(",")),
  }),
)
const note = Note({ text: "hi", tags: "a,b" })

/** A schema of another library than zod. */
function schemaOf<Output>(
  validate: (value: unknown) => StandardSchemaV1.Result<Output> | Promise<StandardSchemaV1.Result<Output>>,
): StandardSchemaV1<unknown, Output> {
  return { "~standard": { version: 1, vendor: "test", validate } }
}

describe("defineMessage", () => {
  it("makes messages of the schema's output: defaults and transforms are applied", () => {
    expect(note).toEqual({ text: "hi", stars: 1, tags: ["a", "b"] })
    expectTypeOf(Note)
      .parameter(0)
      .toEqualTypeOf<{ text: string; tags: string; stars?: number | undefined }>()
    expectTypeOf(note.tags).toEqualTypeOf<string[]>()
    expectTypeOf(note.stars).toEqualTypeOf<number>()
  })

  it("makes read-only messages", () => {
    expect(Object.isFrozen(note)).toBe(true)
    // @ts-expect-error a field is read-only
    expect(() => (note.text = "other")).toThrow(TypeError)
    expect(() => Object.assign(note, { more: 1 })).toThrow(TypeError)
  })

  it("does not let a message change with the value it was made of", () => {
    const fields = { text: "before", tags: "" }
    const made = Note(fields)
    fields.text = "after"
    expect(made.text).toBe("before")
    expect(Object.isFrozen(fields)).toBe(false)
  })

  it("drops fields that the schema does not know", () => {
    expect(Note({ text: "hi", tags: "", extra: 1 } as never)).not.toHaveProperty("extra")
  })

  it("names its type and its messages for people who print them", () => {
    expect(Note.typeName).toBe("Note")
    expect(Note.name).toBe("Note")
    expect(inspect(note)).toBe("Note { text: 'hi', stars: 1, tags: [ 'a', 'b' ] }")
  })

  it("refuses invalid fields, and says which and why", () => {
    // @ts-expect-error a field is of another type
    expect(failureOf(() => Note({ text: 1, tags: "" }))).toMatch(
      /^MESSAGE_INVALID: Not a valid Note: text: .*expected string/,
    )
    // @ts-expect-error a required field is missing
    expect(failureOf(() => Note({ text: "hi" }))).toMatch(/^MESSAGE_INVALID: Not a valid Note: tags: /)
  })

  it.each([undefined, null, 1, "text", []])("refuses %j as fields", (value) => {
    expect(failureOf(() => Note.parse(value))).toMatch(/^MESSAGE_INVALID: Not a valid Note/)
  })

  it.each(["", "a b", "a/b", "a:b", "a\n", "\ud800", null, undefined, 1, Symbol("a")])(
    "refuses the name %s",
    (name) => {
      expect(failureOf(() => defineMessage(name as never, z.object({})))).toMatch(
        /^MESSAGE_INVALID: Message name .* is not valid\. Use/,
      )
    },
  )

  it.each([undefined, null, 1, {}, () => true, { "~standard": {} }])("refuses %o as a schema", (schema) => {
    expect(failureOf(() => defineMessage("A", schema as never))).toMatch(/^MESSAGE_INVALID: .* not a schema/)
  })

  it("takes any Standard Schema", () => {
    const Count = defineMessage(
      "Count",
      schemaOf<{ value: number }>((value) =>
        typeof value === "number" ? { value: { value } } : { issues: [{ message: "no" }] },
      ),
    )
    expect(Count(3).value).toBe(3)
    expectTypeOf(Count(3).value).toEqualTypeOf<number>()
    expect(failureOf(() => Count("3"))).toBe("MESSAGE_INVALID: Not a valid Count: no")
  })

  it("refuses an asynchronous schema, and leaves no rejection behind", () => {
    const Zod = defineMessage("Zod", z.object({ a: z.string().refine(async () => true) }))
    const Own = defineMessage(
      "Own",
      schemaOf<object>(() => Promise.reject(new Error("later"))),
    )
    expect(failureOf(() => Zod({ a: "" }))).toMatch(/^MESSAGE_INVALID: .*Zod.*checks asynchronously/)
    expect(failureOf(() => Own({}))).toMatch(/^MESSAGE_INVALID: .*Own.*checks asynchronously/)
  })

  it("refuses a value when the schema throws, and gives the reason where it is known", () => {
    const Own = defineMessage("Own", schemaOf<object>(boom))
    const Zod = defineMessage("Zod", z.object({ a: z.string().transform(boom) }))
    expect(failureOf(() => Own({}))).toMatch(/^MESSAGE_INVALID: Not a valid Own: .*throws: boom/)
    expect(failureOf(() => Zod({ a: "" }))).toMatch(/^MESSAGE_INVALID: Not a valid Zod: .*or throws/)
  })

  it.each([[1], "text", null, undefined, new Map([["a", 1]]), new Date(0), new (class Point {})()])(
    "refuses a schema that gives %o, whose content is not fields",
    (value) => {
      const Odd = defineMessage(
        "Odd",
        schemaOf<object>(() => ({ value: value as object })),
      )
      expect(failureOf(() => Odd({}))).toMatch(
        /^MESSAGE_INVALID: The schema of message Odd gives .* object schema/,
      )
    },
  )

  it("refuses a field __proto__, which would take the place of the message's type", () => {
    const Open = defineMessage(
      "Open",
      schemaOf<object>((value) => ({ value: value as object })),
    )
    const fields: unknown = JSON.parse('{"a": 1, "__proto__": {"admin": true}}')
    expect(failureOf(() => Open(fields))).toMatch(/^MESSAGE_INVALID: Not a valid Open: "__proto__"/)
  })

  it("keeps fields named like members of an object", () => {
    const Open = defineMessage("Open", z.record(z.string(), z.unknown()))
    const fields = { constructor: 1, toString: 2, prototype: 3, typeName: 4 }
    const open = Open(fields)
    expect({ ...open }).toEqual(fields)
    expect(Open.is(open)).toBe(true)
  })
})

describe("a message", () => {
  it("is recognised by its own type only", () => {
    const Twin = defineMessage("Note", Note.schema)
    expect(Note.is(note)).toBe(true)
    expect(Twin.is(note)).toBe(false)
    expect(messageTypeOf(note)).toBe(Note)
    expectTypeOf<(typeof Note)["is"]>().guards.toEqualTypeOf<
      Message<{ text: string; stars: number; tags: string[] }, "Note">
    >()
    expectTypeOf(Note).toExtend<AnyMessageType>()
    expectTypeOf<MessageType>().toExtend<AnyMessageType>()
  })

  it("becomes plain fields when it is spread or sent through JSON, and a message again by its type", () => {
    const Plain = defineMessage("Plain", z.object({ text: z.string() }))
    const plain = Plain({ text: "hi" })
    for (const copy of [{ ...plain }, structuredClone(plain), JSON.parse(JSON.stringify(plain)) as unknown]) {
      expect(isMessage(copy)).toBe(false)
      expect(Plain.parse(copy)).toEqual(plain)
    }
    // @ts-expect-error plain fields are not a message
    expectTypeOf({ text: "hi" }).toExtend<Message>()
  })

  it("can be made of another message, and then is of the new type", () => {
    const Copy = defineMessage("Copy", z.object({ text: z.string() }))
    expect(messageTypeOf(Copy(note))).toBe(Copy)
  })

  it.each([undefined, null, 1, "Note", {}, [], () => {}, Note, { typeName: "Note" }])(
    "is not %o",
    (value) => {
      expect(isMessage(value)).toBe(false)
      expect(messageTypeOf(value)).toBeUndefined()
      expect(failureOf(() => checkMessage(value))).toMatch(
        /^MESSAGE_INVALID: .* not a message\. Make it with/,
      )
    },
  )
})

describe("checkMessageType", () => {
  it("takes a message type, and nothing else", () => {
    expect(() => checkMessageType(Note)).not.toThrow()
    for (const value of [undefined, null, "Note", {}, note, () => {}, { typeName: "Note" }]) {
      expect(failureOf(() => checkMessageType(value))).toMatch(/^MESSAGE_INVALID: .* not a message type/)
    }
  })
})

function boom(): never {
  throw new Error("boom")
}
