import { basename } from "node:path"
import { workspacePath } from "../executors/workspace-path.ts"
import { type CodeBlock, codeFences } from "../executors/index.ts"
import { CommandFailure } from "./command-failure.ts"
import { type CodeText, MARKDOWN, isKnownLanguage } from "./code-language.ts"

export interface SelectedBlocks {
  readonly blocks: readonly CodeBlock[]
  /** What the user should know of blocks that are left out. */
  readonly notes: readonly string[]
}

/** What to run: the text itself, or the fenced blocks of a markdown text whose language is known. */
export function selectBlocks({ text, name, path }: CodeText, language: string): SelectedBlocks {
  if (language !== MARKDOWN) return { blocks: [{ code: text, language, file: fileName(path) }], notes: [] }
  const fences = codeFences(text)
  if (fences.length === 0) throw new CommandFailure(`${name} has no fenced code block, so nothing runs.`)
  const blocks = fences.filter((fence) => isKnownLanguage(fence.language))
  const notes = fences.flatMap((fence, index) =>
    blocks.includes(fence) ? [] : [`skipped block ${index + 1} of ${name}: ${reason(fence)}`],
  )
  if (blocks.length > 0) return { blocks, notes }
  throw new CommandFailure(
    `None of the ${fences.length} fenced blocks of ${name} can run: write a language behind the fence, such as \`\`\`python.`,
  )
}

function reason({ language }: CodeBlock): string {
  return language === "" ? "it names no language" : `no program is known for ${JSON.stringify(language)}`
}

// So that a traceback names the user's file; a name that no workspace takes does without.
function fileName(path: string | undefined): string | undefined {
  try {
    const name = path === undefined ? "-" : workspacePath(basename(path))
    return name.startsWith("-") ? undefined : name
  } catch {
    return undefined
  }
}
