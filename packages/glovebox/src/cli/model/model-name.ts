import { PROVIDERS, type Provider } from "../config/config-schema.ts"

/** A model as a user writes it: `openai/gpt-5-mini`, or a name alone. */
export interface ModelName {
  /** Undefined when the name does not tell. */
  readonly provider: Provider | undefined
  readonly name: string
}

// What their names begin with. A colon before a tag is Ollama's way.
const KNOWN: readonly (readonly [RegExp, Provider])[] = [
  [/^(?:gpt-(?!oss)|chatgpt-|o\d)/, "openai"],
  [/^claude-/, "anthropic"],
  [/^[^/]+:[\w.-]+$/, "ollama"],
]

export function readModelName(text: string): ModelName {
  const [first = "", ...rest] = text.split("/")
  const provider = PROVIDERS.find((name) => name === first)
  if (provider && rest.length > 0) return { provider, name: rest.join("/") }
  return { provider: KNOWN.find(([pattern]) => pattern.test(text))?.[1], name: text }
}
