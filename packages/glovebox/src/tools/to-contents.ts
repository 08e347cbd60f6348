import { type Image, imageSchema } from "../models/index.ts"
import { describe } from "../internal/describe.ts"
import { type ResultContent, imageContent, textContent } from "./tool-result.ts"

const NOTHING = "The tool has finished. It returns nothing."

/**
 * What a tool returned, as the parts of a result: text as it is, images as images, a list that holds an image part by
 * part, and all else as JSON.
 *
 * @throws TypeError for what JSON cannot hold
 */
export function toContents(value: unknown): readonly ResultContent[] {
  if (value === undefined) return [textContent(NOTHING)]
  if (Array.isArray(value) && value.some(isPart)) return value.flatMap(toContents)
  return [toContent(value)]
}

/** The same, of one thing. */
export function toContent(value: unknown): ResultContent {
  if (value === undefined) return textContent("")
  if (typeof value === "string") return textContent(value)
  if (isImage(value)) return imageContent(value)
  if (isPart(value)) return value
  return textContent(jsonText(value))
}

export function isImage(value: unknown): value is Image {
  return hasType(value, "Image") && imageSchema.safeParse(value).success
}

/** Whether it is a part of a result already, or an image. */
export function isPart(value: unknown): value is ResultContent {
  if (hasType(value, "TextResultContent")) return typeof value.content === "string"
  if (hasType(value, "ImageResultContent")) return isImage(value.content)
  return isImage(value)
}

function hasType(value: unknown, type: string): value is { readonly content?: unknown } {
  return typeof value === "object" && value !== null && "type" in value && value.type === type
}

// Bytes would be a number for each, and the others nothing.
const LOST = [Map, Set, WeakMap, WeakSet, Promise, RegExp, Error, ArrayBuffer, Uint8Array]

// JSON.stringify alone would write a Map as {} and leave out a function, and say nothing.
function jsonText(value: unknown): string {
  const text: string | undefined = JSON.stringify(
    value,
    function (this: Record<string, unknown>, key, item: unknown) {
      // As it was before it told of itself as JSON, which bytes do.
      const given = this[key]
      const isLost =
        LOST.some((kind) => given instanceof kind) || ["bigint", "function", "symbol"].includes(typeof item)
      if (!isLost) return item
      throw new TypeError(
        `${key === "" ? "it" : `"${key}" in it`} is ${describe(given)}, which JSON cannot hold`,
      )
    },
  )
  return text ?? NOTHING
}
