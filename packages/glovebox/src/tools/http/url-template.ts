import { GloveboxError } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"

const PLACEHOLDER = /\{([^{}]*)\}/g
const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/

/** An address with places for arguments, in its path and its query alone: where it leads is fixed. */
export class UrlTemplate {
  readonly #origin: string
  readonly #path: string
  readonly #query: string | undefined
  /** The arguments that it takes. */
  readonly names: ReadonlySet<string>

  /** Throws TOOL_INVALID for a template that could lead elsewhere. */
  constructor(text: string) {
    const match = /^(https?:\/\/[^/?#{}\\@\s]+)(\/[^?#\s]*)?(?:\?([^#\s]*))?$/.exec(text)
    if (!match) {
      throw invalid(
        text,
        "write http(s)://host/path?query, with {arguments} in the path and the query only, and no user name",
      )
    }
    const [, origin = "", path = "/", query] = match
    // Written as it is sent, so that there is nothing to guess.
    if (new URL(origin).origin !== origin) throw invalid(text, `write the host as ${new URL(origin).origin}`)
    if (/[{}]/.test(`${path}${query ?? ""}`.replaceAll(PLACEHOLDER, "")))
      throw invalid(text, "a brace has no partner")
    const fixed = path.replaceAll(PLACEHOLDER, "x")
    if (new URL(fixed, origin).pathname !== fixed) throw invalid(text, "its path is not in its plain form")
    const names = [...`${path}${query ?? ""}`.matchAll(PLACEHOLDER)].map(([, name = ""]) => name)
    const odd = names.find((name) => !NAME.test(name))
    if (odd !== undefined) throw invalid(text, `{${odd}} is no name of an argument`)
    this.#origin = origin
    this.#path = path
    this.#query = query
    this.names = new Set(names)
  }

  /** The names that its query has already. */
  get fixed(): ReadonlySet<string> {
    return new Set(new URLSearchParams(this.#query?.replaceAll(PLACEHOLDER, "")).keys())
  }

  get origin(): string {
    return this.#origin
  }

  /** The address with the arguments in their places; throws an error that a model can act on. */
  withArguments(args: Readonly<Record<string, unknown>>): URL {
    const path = this.#path
      .split("/")
      .map((segment) => fillSegment(segment, args))
      .join("/")
    const query = this.#query?.replaceAll(PLACEHOLDER, (_, name: string) => encode(name, args[name]))
    return new URL(`${this.#origin}${path}${query === undefined ? "" : `?${query}`}`)
  }
}

function fillSegment(segment: string, args: Readonly<Record<string, unknown>>): string {
  let first: string | undefined
  const filled = segment.replaceAll(PLACEHOLDER, (_, name: string) => {
    first ??= name
    return encode(name, args[name])
  })
  // Such a part does not name a thing: it goes to another place.
  if (first !== undefined && /^(?:\.|%2e){0,2}$/i.test(filled)) {
    throw new Error(`${first} is ${describe(args[first])}, which cannot be a part of a path`)
  }
  return filled
}

function encode(name: string, value: unknown): string {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
    throw new Error(`${name} is ${describe(value)}, and must be text or a number`)
  }
  try {
    return encodeURIComponent(value)
  } catch {
    throw new Error(`${name} has half a character, which an address cannot have`)
  }
}

function invalid(text: string, problem: string): GloveboxError {
  return new GloveboxError("TOOL_INVALID", `The address ${describe(text)} cannot be used: ${problem}.`)
}
