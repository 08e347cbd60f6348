import { type CodeBlock, DEFAULT_LANGUAGES, codeFences } from "../../../executors/index.ts"

/** What was found in texts: code to run, and the languages of code that is not run here. */
export interface FoundCode {
  readonly blocks: readonly CodeBlock[]
  readonly passedOver: readonly string[]
}

const SHELLS = new Set(["sh", "bash"])
const SHEBANG = /^#!.*?\b(python|bash|sh|node)[\d.]*\s*$/m

/** The languages that an agent runs, by any of their names. */
export class SupportedLanguages {
  readonly names: readonly string[]
  readonly #families: ReadonlySet<string>

  constructor(names: readonly string[]) {
    this.names = names
    this.#families = new Set(names.map(familyOf))
  }

  has(language: string): boolean {
    return this.#families.has(familyOf(language))
  }

  /**
   * The code in fences of these texts, in order. A fence without a language is taken for code where its text has no
   * fence with one of ours: beside such, it is most often an example of output.
   */
  find(texts: readonly string[]): FoundCode {
    // Who quotes code does not ask for it to be run.
    const fences = texts.map((text) =>
      codeFences(text, { quoted: false }).filter(({ code }) => code.trim() !== ""),
    )
    return {
      blocks: fences.flatMap((blocks) => this.#choose(blocks)),
      passedOver: [...new Set(fences.flat().map(({ language }) => language))].filter(
        (language) => language !== "" && !this.has(language),
      ),
    }
  }

  #choose(blocks: readonly CodeBlock[]): CodeBlock[] {
    const tagged = blocks.filter(({ language }) => language !== "" && this.has(language))
    if (tagged.length > 0) return tagged
    return blocks
      .filter(({ language }) => language === "")
      .map(({ code }) => ({ code, language: this.#guess(code) }))
  }

  #guess(code: string): string {
    const [firstLine = ""] = code.split("\n", 1)
    const named = SHEBANG.exec(firstLine)?.[1]
    return named !== undefined && this.has(named) ? named : (this.names[0] ?? "")
  }
}

/** `py` is python; models write `bash` and `sh` for the same, so these are one. */
function familyOf(language: string): string {
  const wanted = language.trim().toLowerCase()
  const known = DEFAULT_LANGUAGES.find(({ name, aliases }) => name === wanted || aliases.includes(wanted))
  const name = known?.name ?? wanted
  return SHELLS.has(name) ? "sh" : name
}
