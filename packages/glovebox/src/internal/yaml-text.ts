import { LineCounter, parseDocument } from "yaml"
import { errorMessage } from "./error-message.ts"

/** What a YAML or JSON text says, and where it says it. */
export interface YamlText {
  /** Undefined for an empty text. */
  readonly value: unknown
  /** `name:line:column` of a value; for one that is absent, of its parent. */
  at(path: readonly PropertyKey[]): string
}

/** Reads YAML or JSON text, of which JSON is a part; or says in one line what is wrong with it. */
export function parseYaml(text: string, name: string): YamlText | { readonly problem: string } {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, strict: true, version: "1.2" })
  const where = (offset: number | undefined): string => {
    if (offset === undefined) return name
    const { line, col } = lines.linePos(offset)
    return `${name}:${line}:${col}`
  }
  const { yaml } = document.directives ?? {}
  // An older version reads `no` as false and merges with `<<`.
  if (yaml?.explicit && yaml.version !== "1.2")
    return { problem: `${name}: YAML ${yaml.version} is not read. Use 1.2.` }
  const [broken] = [...document.errors, ...document.warnings]
  if (broken) return { problem: `${where(broken.pos[0])}: ${broken.message.split("\n")[0] ?? ""}` }
  try {
    // No aliases: a small file must not unfold into a large one.
    const value: unknown = document.toJS({ maxAliasCount: 0 }) ?? undefined
    return { value, at: (path) => where(offsetOf(document, path)) }
  } catch (cause) {
    return { problem: `${name}: ${errorMessage(cause)}` }
  }
}

function offsetOf(
  document: ReturnType<typeof parseDocument>,
  path: readonly PropertyKey[],
): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    if (typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range)) {
      return node.range[0] as number
    }
  }
  return undefined
}
