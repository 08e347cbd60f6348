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
  if (typeof value === "string") return textContent(value)
  if (isImage(value)) return imageContent(value)
  if (isPart(value)) return value
  return textContent(jsonText(value))
}

function isImage(value: unknown): value is Image {
  return hasType(value, "Image") && imageSchema.safeParse(value).success
}

function isPart(value: unknown): value is ResultContent {
  if (hasType(value, "TextResultContent")) return typeof value.content === "string"
  if (hasType(value, "ImageResultContent")) return isImage(value.content)
  return isImage(value)
}

function hasType(value: unknown, type: string): value is { readonly content?: unknown } {
  return typeof value === "object" && value !== null && "type" in value && value.type === type
}

// JSON.stringify alone would write a Map as {} and leave out a function, and say nothing.
function jsonText(value: unknown): string {
  return JSON.stringify(value, (key, item: unknown) => {
    const isLost =
      item instanceof Map || item instanceof Set || ["bigint", "function", "symbol"].includes(typeof item)
    if (!isLost) return item
    throw new TypeError(
      `${key === "" ? "it" : `"${key}" in it`} is ${describe(item)}, which JSON cannot hold`,
    )
  })
}
