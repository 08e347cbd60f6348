import { formatBytes } from "../../policy/index.ts"
import { visibleLine } from "../../internal/safe-text.ts"
import type { WrittenOutput } from "./write-outputs.ts"

const MOST_LINES = 20

/** What became of the files that the code made, in a line for each; of many, the first and how many more. */
export function tellOutputs(written: readonly WrittenOutput[], folder: string): readonly string[] {
  // What is missing is told before what is there.
  const lines = [...written]
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, MOST_LINES)
    .map(lineOf)
  const more = written.length - MOST_LINES
  return more > 0 ? [...lines, `and ${more} more files of the code; see ${folder}`] : lines
}

function rank({ file, failure }: WrittenOutput): number {
  if (failure !== undefined) return 0
  return file === undefined ? 2 : 1
}

function lineOf({ path, size, file, isRenamed, failure }: WrittenOutput): string {
  const name = visibleLine(path)
  if (failure !== undefined) return `${name} could not be written: ${failure}`
  if (file === undefined) return `left out ${name}: hidden files are not brought out`
  return `wrote ${visibleLine(file)} (${formatBytes(size)})${isRenamed ? `, because there is another ${name}` : ""}`
}
