import { isError } from "../../internal/is-error.ts"

/** How the fields of an error are copied, and who is told that one could not be. */
export interface ErrorRules {
  text(text: string): string
  field(key: string, item: unknown): unknown
  onUnreadable(): void
}

const UNREADABLE = "[left out]"

/** A copy of an error of the same class, without secrets in its message, its stack, its fields and its causes. */
export function copyError(error: Error, rules: ErrorRules): Error {
  const clean = new Error(rules.text(error.message))
  const { stack } = error
  define(clean, "stack", typeof stack === "string" ? rules.text(stack) : undefined, false)
  for (const key of [...gettersOf(error), ...Object.getOwnPropertyNames(error)]) {
    if (key === "message" || key === "stack") continue
    const { enumerable = false } = Object.getOwnPropertyDescriptor(error, key) ?? {}
    define(clean, key, fieldOf(error, key, rules), enumerable)
  }
  // Last: some classes have their say while a stack is written.
  Object.setPrototypeOf(clean, Object.getPrototypeOf(error) as object)
  return clean
}

// An error is told even where a part of it holds itself, as requests do that an error hangs on.
function fieldOf(error: Error, key: string, rules: ErrorRules): unknown {
  try {
    return rules.field(key, Reflect.get(error, key))
  } catch {
    rules.onUnreadable()
    return UNREADABLE
  }
}

// What a class computes from parts that only its own objects have, as a DOMException does its name.
function gettersOf(error: Error): readonly string[] {
  const names: string[] = []
  let prototype: unknown = Object.getPrototypeOf(error)
  while (isError(prototype) && prototype !== Error.prototype) {
    const described = Object.entries(Object.getOwnPropertyDescriptors(prototype))
    names.push(...described.flatMap(([name, accessor]) => (accessor.get ? [name] : [])))
    prototype = Object.getPrototypeOf(prototype)
  }
  return names
}

function define(target: object, key: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(target, key, { value, enumerable, writable: true, configurable: true })
}
