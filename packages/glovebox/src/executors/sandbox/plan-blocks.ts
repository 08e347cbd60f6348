import type { CodeBlock } from "../code-block.ts"
import { codeFileName } from "../code-file.ts"
import type { Language, LanguageTable } from "../languages.ts"
import { silencePip } from "../silence-pip.ts"

/** A block that is ready to be put and run. */
export interface PlannedBlock {
  readonly language: Language
  /** What the caller wrote as language. */
  readonly tag: string
  readonly file: string
  /** Whether the code named its file. */
  readonly named: boolean
  readonly content: Uint8Array
  readonly argv: readonly string[]
}

/** What each block becomes; a block that cannot be run is an error before any of them runs. */
export function planBlocks(blocks: readonly CodeBlock[], languages: LanguageTable): PlannedBlock[] {
  return blocks.map(({ code, language: tag, file }) => {
    const language = languages.lookup(tag)
    const quiet = silencePip(code, language.name)
    const { path, named } = codeFileName({ code: quiet, language: tag, file }, language)
    return {
      language,
      tag,
      file: path,
      named,
      content: Buffer.from(quiet, "utf8"),
      argv: [...language.command, path],
    }
  })
}
