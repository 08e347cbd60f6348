const MAX_LENGTH = 80

/** A short, safe rendering of any value for an error message. */
export function describe(value: unknown): string {
  const text = render(value)
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text
}

function render(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value)
    case "function":
      return value.name === "" ? "a function" : `function ${value.name}`
    case "symbol":
    case "bigint":
      return String(value)
    case "object":
      return renderObject(value)
    default:
      return String(value)
  }
}

function renderObject(value: object | null): string {
  if (value === null) return "null"
  try {
    return JSON.stringify(value) ?? "an object"
  } catch {
    // A cycle, a bigint inside, or a toJSON that throws: the class name must do.
    return "an object that is not JSON"
  }
}
