import { extname } from "node:path"
import { GloveboxError } from "../core/index.ts"
import { DEFAULT_LANGUAGES } from "../executors/index.ts"
import { languageTable } from "../executors/languages.ts"
import { CommandFailure, EXIT_USAGE } from "./command-failure.ts"

export const MARKDOWN = "markdown"

const table = languageTable()

const BY_EXTENSION: ReadonlyMap<string, string> = new Map([
  ...DEFAULT_LANGUAGES.map(({ extension, name }) => [`.${extension}`, name] as const),
  [".mjs", "javascript"],
  [".cjs", "javascript"],
  [".mts", "typescript"],
  [".cts", "typescript"],
  [".md", MARKDOWN],
  [".markdown", MARKDOWN],
])

export interface CodeText {
  readonly text: string
  /** As the user knows it. */
  readonly name: string
  /** Undefined for what has none, such as stdin. */
  readonly path?: string | undefined
}

/** The language that the user gives, else that of the file's extension, else that of the shebang. */
export function languageOf({ text, name, path }: CodeText, given?: string): string {
  if (given !== undefined) return namedLanguage(given)
  const found = (path && BY_EXTENSION.get(extname(path).toLowerCase())) || shebangLanguage(text)
  if (found !== undefined) return found
  throw new CommandFailure(
    `The language of ${name} is not to be told from its name or its first line: give it by --lang, such as --lang python. Known: ${knownLanguages()}.`,
    { exitCode: EXIT_USAGE },
  )
}

/** Whether the sandbox has a program for what a fence or a user calls by this name. */
export function isKnownLanguage(name: string): boolean {
  return lookup(name) !== undefined
}

function knownLanguages(): string {
  return [...DEFAULT_LANGUAGES.map(({ name }) => name), MARKDOWN].join(", ")
}

function namedLanguage(given: string): string {
  if (["md", MARKDOWN].includes(given.trim().toLowerCase())) return MARKDOWN
  try {
    return table.lookup(given).name
  } catch (error) {
    if (!GloveboxError.is(error)) throw error
    throw new CommandFailure(`${error.message.replace(/\.$/, "")}, ${MARKDOWN}.`, { exitCode: EXIT_USAGE })
  }
}

// `#!/usr/bin/env -S python3.12 -u` and `#!/bin/bash -e`.
function shebangLanguage(text: string): string | undefined {
  const [line = ""] = text.split(/\r?\n/, 1)
  const words = /^#!\s*(.*)$/.exec(line)?.[1]?.split(/\s+/) ?? []
  const programs = words.filter((word) => !word.startsWith("-") && !/^\w+=/.test(word)).map(baseName)
  const program = programs[0] === "env" ? programs[1] : programs[0]
  return program === undefined ? undefined : (lookup(program) ?? lookup(program.replace(/[\d.]+$/, "")))
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1)
}

function lookup(name: string): string | undefined {
  try {
    return table.lookup(name).name
  } catch {
    return undefined
  }
}
