import { GloveboxError } from "../core/index.ts"
import { describe } from "../internal/describe.ts"

/** A piece of code and the language it is written in, as a fence names it. */
export interface CodeBlock {
  readonly code: string
  readonly language: string
  /** Where the code is written, for this call; a `# filename:` line in the code comes first, and its file is kept. */
  readonly file?: string | undefined
}

/** Refuses what is not a list of at least one code block. */
export function checkCodeBlocks(blocks: unknown): asserts blocks is readonly CodeBlock[] {
  if (!Array.isArray(blocks)) {
    throw invalid(`The code blocks are ${describe(blocks)}. Pass a list of { code, language }.`)
  }
  if (blocks.length === 0) throw invalid("The list of code blocks is empty. Pass at least one.")
  // By index: forEach would step over the holes of a sparse list.
  for (let index = 0; index < blocks.length; index += 1) checkCodeBlock(blocks[index], index)
}

function checkCodeBlock(block: unknown, index: number): void {
  if (typeof block !== "object" || block === null) {
    throw invalid(`blocks[${index}] is ${describe(block)}. Pass { code, language }.`)
  }
  const { code, language, file } = block as Readonly<Record<"code" | "language" | "file", unknown>>
  if (typeof code !== "string") {
    throw invalid(`blocks[${index}].code is ${describe(code)}. Pass the code as a string.`)
  }
  if (typeof language !== "string") {
    throw invalid(`blocks[${index}].language is ${describe(language)}. Pass a name such as "python".`)
  }
  if (file !== undefined && typeof file !== "string") {
    throw invalid(
      `blocks[${index}].file is ${describe(file)}. Pass a path below the workspace, or leave it out.`,
    )
  }
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("CODE_BLOCK_INVALID", message)
}
