/* oxlint-disable unicorn/consistent-function-scoping -- its text, as a whole, is what QuickJS runs */

/** How values are shown. It runs in QuickJS, before any program. */
export function inspector() {
  const DEPTH = 4
  const MOST_ITEMS = 100
  const isName = /^[A-Za-z_$][\w$]*$/

  function inspect(value, depth = 0, above = []) {
    if (typeof value === "string") return depth === 0 ? value : JSON.stringify(value)
    if (typeof value === "bigint") return `${value}n`
    if (typeof value === "symbol") return value.toString()
    if (Object.is(value, -0)) return "-0"
    if (typeof value === "function") {
      return `[${/^class\b/.test(Function.prototype.toString.call(value)) ? "class" : "Function"} ${value.name || "(anonymous)"}]`
    }
    if (typeof value !== "object" || value === null) return String(value)
    if (above.includes(value)) return "[Circular]"
    if (value instanceof Error) return value.stack ? `${value}\n${value.stack.trimEnd()}` : String(value)
    if (value instanceof Date) return Number.isNaN(+value) ? "Invalid Date" : value.toISOString()
    if (value instanceof RegExp) return String(value)
    if (depth > DEPTH) return Array.isArray(value) ? "[Array]" : "[Object]"
    const inner = (item) => inspect(item, depth + 1, [...above, value])
    const listed = (items) => {
      const shown = items.slice(0, MOST_ITEMS)
      return items.length > MOST_ITEMS ? [...shown, `... ${items.length - MOST_ITEMS} more`] : shown
    }
    const wrapped = (open, items, close) => {
      if (items.length === 0) return `${open}${close}`
      const line = `${open} ${items.join(", ")} ${close}`
      if (line.length <= 76 && !line.includes("\n")) return line
      const pad = "  ".repeat(depth + 1)
      return `${open}\n${items.map((item) => pad + item).join(",\n")}\n${"  ".repeat(depth)}${close}`
    }
    if (Array.isArray(value)) return wrapped("[", listed(Array.from(value, inner)), "]")
    if (ArrayBuffer.isView(value) && "length" in value) {
      const items = listed(Array.from(value.subarray(0, MOST_ITEMS + 1), inner))
      return wrapped(`${value.constructor.name}(${String(value.length)}) [`, items, "]")
    }
    if (value instanceof Map) {
      return wrapped(
        `Map(${value.size}) {`,
        listed([...value].map(([k, v]) => `${inner(k)} => ${inner(v)}`)),
        "}",
      )
    }
    if (value instanceof Set) return wrapped(`Set(${value.size}) {`, listed([...value].map(inner)), "}")
    if (value instanceof Promise) return "Promise {}"
    const name = Object.getPrototypeOf(value)?.constructor?.name ?? "[Object: null prototype]"
    const keys = Reflect.ownKeys(value).filter((key) =>
      Object.prototype.propertyIsEnumerable.call(value, key),
    )
    const fields = keys.map((key) => {
      const shown =
        typeof key === "symbol" ? `[${String(key)}]` : isName.test(key) ? key : JSON.stringify(key)
      const { get } = Object.getOwnPropertyDescriptor(value, key) ?? {}
      return `${shown}: ${get ? "[Getter]" : inner(value[key])}`
    })
    return wrapped(name === "Object" ? "{" : `${name} {`, listed(fields), "}")
  }

  function format(values) {
    const rest = [...values]
    if (typeof rest[0] !== "string" || rest.length === 1) return rest.map((value) => inspect(value)).join(" ")
    const first = rest.shift().replace(/%[sdifjoO%]/g, (mark) => {
      if (mark === "%%") return "%"
      if (rest.length === 0) return mark
      const value = rest.shift()
      if (mark === "%s") return typeof value === "string" ? value : inspect(value, 1)
      if (mark === "%d" || mark === "%f") return String(Number(value))
      if (mark === "%i") return String(Number.parseInt(value, 10))
      return mark === "%j" ? JSON.stringify(value) : inspect(value, 1)
    })
    return [first, ...rest.map((value) => inspect(value))].join(" ")
  }

  // What was thrown may be anything, and may throw when it is looked at.
  function told(value) {
    try {
      return inspect(value)
    } catch {
      return "a value that cannot be shown"
    }
  }

  return { inspect, format, told }
}
