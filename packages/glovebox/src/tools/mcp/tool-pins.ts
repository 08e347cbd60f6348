import { createHash } from "node:crypto"
import { GloveboxError } from "../../core/index.ts"
import { canonicalJson } from "../../internal/canonical-json.ts"
import type { McpTool } from "./mcp-connection.ts"

/** By tool: the SHA-256 of its definition. */
export type ToolPins = Readonly<Record<string, string>>

const UNPINNED = new Set(["_meta", "icons"])

/** Of everything that a model or a program goes by; pictures and remarks do not count. */
function pinOf(tool: McpTool): string {
  const definition = Object.fromEntries(Object.entries(tool).filter(([key]) => !UNPINNED.has(key)))
  return createHash("sha256").update(canonicalJson(definition)).digest("hex")
}

/** Remembers what tools were like, and refuses them when they become something else. */
export class PinnedTools {
  readonly #server: string
  #pins: Map<string, string>
  // With pins that were given, what has none is not offered; without, each tool is pinned when it is first seen.
  #isClosed: boolean
  readonly #seen = new Map<string, McpTool>()

  constructor(server: string, given: ToolPins | undefined) {
    this.#server = server
    this.#pins = new Map(Object.entries(given ?? {}))
    this.#isClosed = given !== undefined
  }

  get pins(): ToolPins {
    return Object.fromEntries(this.#pins)
  }

  /** The pins to go by next time; undefined while nothing is pinned. */
  get kept(): ToolPins | undefined {
    return this.#isClosed || this.#pins.size > 0 ? this.pins : undefined
  }

  replace(pins: ToolPins): void {
    this.#pins = new Map(Object.entries(pins))
    this.#isClosed = true
    this.#seen.clear()
  }

  /** Those of the tools that may be used; TOOL_DEFINITION_CHANGED when a pinned one is another, or gone. */
  check(tools: readonly McpTool[]): readonly McpTool[] {
    const byName = new Map(tools.map((tool) => [tool.name, tool]))
    const changed = [...this.#pins].flatMap(([name, pin]) => {
      const tool = byName.get(name)
      if (!tool) return this.#isClosed ? [`${name} is gone`] : []
      return pinOf(tool) === pin ? [] : [this.#describeChange(tool)]
    })
    if (changed.length > 0) throw this.#changed(changed)
    const usable = this.#isClosed ? tools.filter(({ name }) => this.#pins.has(name)) : tools
    for (const tool of usable) {
      this.#pins.set(tool.name, pinOf(tool))
      this.#seen.set(tool.name, tool)
    }
    return usable
  }

  #describeChange(tool: McpTool): string {
    const before: Readonly<Record<string, unknown>> = this.#seen.get(tool.name) ?? {}
    const now: Readonly<Record<string, unknown>> = tool
    const fields = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
      (key) => !UNPINNED.has(key) && canonicalJson([before[key]]) !== canonicalJson([now[key]]),
    )
    return this.#seen.has(tool.name) ? `${tool.name} (its ${fields.join(", ")})` : tool.name
  }

  #changed(changes: readonly string[]): GloveboxError {
    return new GloveboxError(
      "TOOL_DEFINITION_CHANGED",
      `The MCP server ${this.#server} describes tools otherwise than when they were pinned: ${changes.join("; ")}. ` +
        "Nothing of it was told to a model. Look at the change; if it is wanted, pin the tools anew.",
    )
  }
}
