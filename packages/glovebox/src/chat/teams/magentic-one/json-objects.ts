import { errorMessage } from "../../../internal/error-message.ts"

export interface FoundObjects {
  readonly objects: readonly unknown[]
  /** Why something that looks like an object is none. */
  readonly problem?: string | undefined
}

// A text may be nothing but open braces, each of which is looked at to the end.
const MOST_UNCLOSED = 10
// Or nothing but small objects, each of which is checked.
const MOST_OBJECTS = 100

/** Finds the JSON objects in a text, with whatever stands around them: words, fences, other JSON. */
export function findJsonObjects(text: string): FoundObjects {
  const objects: unknown[] = []
  let problem: string | undefined
  let unclosed = 0
  let at = text.indexOf("{")
  while (at >= 0 && unclosed < MOST_UNCLOSED) {
    const end = closingBrace(text, at)
    if (end < 0) {
      unclosed += 1
      problem ??= "an object in it has no end"
      at = text.indexOf("{", at + 1)
      continue
    }
    try {
      objects.push(JSON.parse(text.slice(at, end + 1)) as unknown)
    } catch (error) {
      problem = errorMessage(error)
    }
    if (objects.length > MOST_OBJECTS) {
      return { objects: [], problem: `there are more than ${MOST_OBJECTS} objects in it` }
    }
    at = text.indexOf("{", end)
  }
  return { objects, problem }
}

/** Where the object that begins there ends, or -1. */
function closingBrace(text: string, start: number): number {
  let depth = 0
  let isInText = false
  for (let at = start; at < text.length; at += 1) {
    const character = text[at]
    if (isInText) {
      if (character === "\\") at += 1
      else if (character === '"') isInText = false
    } else if (character === '"') isInText = true
    else if (character === "{") depth += 1
    else if (character === "}") {
      depth -= 1
      if (depth === 0) return at
    }
  }
  return -1
}
