import type { CodeBlock } from "../../../executors/index.ts"

/** Blocks as text, in fences that nothing in the code can close. */
export function fencedCode(blocks: readonly CodeBlock[]): string {
  return blocks
    .map(({ code, language }) => {
      const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([run]) => run.length))
      const fence = "`".repeat(longest + 1)
      return `${fence}${language}\n${code}\n${fence}`
    })
    .join("\n\n")
}
