import { z } from "zod"
import { GloveboxError } from "../core/index.ts"
import { describe } from "../internal/describe.ts"
import { formatIssues } from "../internal/format-issues.ts"
import { nearest } from "../internal/nearest.ts"

/** How code of a language is run. */
export interface Language {
  readonly name: string
  readonly aliases: readonly string[]
  /** Of the file that the code is written to, without the dot. */
  readonly extension: string
  /** The program and its fixed arguments; the file follows. */
  readonly command: readonly string[]
  /** What to install in the image, for the message when the program is missing. */
  readonly install: string
}

/** A language to add, or to put in the place of one with the same name. */
export interface LanguageOptions {
  /** The program, or the program and its fixed arguments; the file follows. */
  readonly command: string | readonly string[]
  /** @default that of the language it replaces, else the name */
  readonly extension?: string | undefined
  /** @default those of the language it replaces, else none */
  readonly aliases?: readonly string[] | undefined
  /** @default the program */
  readonly install?: string | undefined
}

export interface LanguageTable {
  /** The language of this name or alias, in any case; LANGUAGE_UNKNOWN when there is none. */
  readonly lookup: (name: string) => Language
  /** The distinct programs that the image may need. */
  readonly programs: () => readonly string[]
}

export const DEFAULT_LANGUAGES: readonly Language[] = [
  { name: "python", aliases: ["py", "python3"], extension: "py", command: ["python3"], install: "Python 3" },
  { name: "bash", aliases: [], extension: "bash", command: ["bash"], install: "bash" },
  { name: "sh", aliases: ["shell"], extension: "sh", command: ["sh"], install: "a POSIX shell" },
  {
    name: "powershell",
    aliases: ["pwsh", "ps1"],
    extension: "ps1",
    command: ["pwsh", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"],
    install: "PowerShell 7",
  },
  {
    name: "javascript",
    aliases: ["js", "node"],
    // Models write both require and import: under this extension, Node 22.7 and later tell them apart.
    extension: "js",
    command: ["node"],
    install: "Node.js",
  },
  {
    name: "typescript",
    aliases: ["ts"],
    extension: "ts",
    command: ["node", "--experimental-strip-types", "--no-warnings"],
    install: "Node 22.7 or later",
  },
]

const NAME = /^[a-z][a-z0-9+#._-]{0,31}$/
// A plain name, or an absolute path without empty, `.` and `..` parts; never a command line.
const PROGRAM = /^(?:[A-Za-z0-9_]|(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._+-]+)*\/[A-Za-z0-9_])[A-Za-z0-9._+-]*$/

const NO_NAME = "is no name of a language: letters, digits, + # . _ -, a letter first"
const name = z.string().trim().toLowerCase().regex(NAME, NO_NAME)
const program = z
  .string()
  .max(255)
  .regex(PROGRAM, "is no program. Pass a name or an absolute path, and arguments as further items of a list")
const argument = z
  .string()
  .max(1024)
  .regex(/^\P{Cc}*$/u, "has a control character")
const optionsSchema = z.record(
  name,
  z.strictObject({
    command: z.preprocess(
      (command) => (typeof command === "string" ? [command] : command),
      z.tuple([program], argument),
    ),
    extension: z
      .string()
      .regex(/^[A-Za-z0-9]{1,16}$/, "is no extension: letters and digits, without the dot")
      .optional(),
    aliases: z.array(name).max(32).optional(),
    install: z.string().min(1).max(200).optional(),
  }),
  { error: ({ code }) => (code === "invalid_key" ? NO_NAME : undefined) },
)

/** The default languages with those given added, or put in their place by name. */
export function languageTable(extra: Readonly<Record<string, LanguageOptions>> = {}): LanguageTable {
  const byName = new Map(DEFAULT_LANGUAGES.map((language) => [language.name, language]))
  const byAlias = new Map<string, Language>()
  for (const language of DEFAULT_LANGUAGES) enter(byAlias, language)
  for (const language of readOptions(extra, byName)) {
    const replaced = byName.get(language.name)
    for (const [alias, target] of byAlias) if (target === replaced) byAlias.delete(alias)
    byName.set(language.name, language)
    enter(byAlias, language)
  }
  const known = [...byAlias.keys()]
  const programs = [...new Set([...byAlias.values()].map(({ command: [first = ""] }) => first))]
  return {
    lookup: (wanted) => {
      const language = typeof wanted === "string" ? byAlias.get(wanted.trim().toLowerCase()) : undefined
      if (!language) throw unknownLanguage(wanted, known)
      return language
    },
    programs: () => programs,
  }
}

function enter(byAlias: Map<string, Language>, language: Language): void {
  for (const alias of [language.name, ...language.aliases]) byAlias.set(alias, language)
}

function readOptions(extra: unknown, defaults: ReadonlyMap<string, Language>): Language[] {
  const { data, error } = optionsSchema.safeParse(extra)
  if (error) {
    throw new GloveboxError("OPTION_INVALID", `The languages are not usable: ${formatIssues(error.issues)}.`)
  }
  return Object.entries(data).map(([name, { command, extension, aliases, install }]) => ({
    name,
    aliases: aliases ?? defaults.get(name)?.aliases ?? [],
    extension: extension ?? defaults.get(name)?.extension ?? name.replaceAll(/[^a-z0-9]/g, "").slice(0, 16),
    command,
    install: install ?? command[0],
  }))
}

function unknownLanguage(wanted: unknown, known: readonly string[]): GloveboxError {
  const blank = typeof wanted !== "string" || wanted.trim() === ""
  const near = blank ? undefined : nearest(wanted.trim(), known)
  const seen = blank ? "A code block names no language" : `No language is called ${describe(wanted)}`
  const hint = near === undefined ? "" : ` Did you mean ${near}?`
  return new GloveboxError("LANGUAGE_UNKNOWN", `${seen}.${hint} Known: ${known.join(", ")}.`)
}
