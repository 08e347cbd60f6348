import { createHash } from "node:crypto"
import { GloveboxError } from "../core/index.ts"
import { describe } from "../internal/describe.ts"
import type { CodeBlock } from "./code-block.ts"
import { filenameDirective } from "./filename-directive.ts"
import type { Language } from "./languages.ts"
import { workspacePath } from "./workspace-path.ts"

export interface CodeFileName {
  /** Below the workspace. */
  readonly path: string
  /** Whether the code itself gave the name. */
  readonly named: boolean
}

/** Where a block's code is written: the file its directive or the block names, else one named by what the code is. */
export function codeFileName(block: CodeBlock, language: Language): CodeFileName {
  const directive = filenameDirective(block.code)
  const name = directive ?? block.file
  if (name === undefined) {
    const hash = createHash("sha256").update(block.code).digest("hex")
    return { path: `tmp_code_${hash}.${language.extension}`, named: false }
  }
  const path = workspacePath(name)
  // The path is an argument of the language's program, which would read it as an option.
  if (path.startsWith("-")) {
    throw new GloveboxError(
      "CODE_FILE_REFUSED",
      `The file name ${describe(path)} is refused: it starts with a dash. Use another first letter.`,
    )
  }
  return { path, named: directive !== undefined }
}
