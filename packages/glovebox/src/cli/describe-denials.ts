import type { CodeResult } from "../executors/index.ts"

const MOST = 5

/** In plain words, a line for each thing that the code was not let reach. */
export function describeDenials({ egress = [] }: Pick<CodeResult, "egress">): string[] {
  const lines = new Set(
    egress.flatMap(({ denial }) => (denial ? [`denied: ${denial.message} ${denial.suggestion}`] : [])),
  )
  const rest = lines.size - MOST
  return [...[...lines].slice(0, MOST), ...(rest > 0 ? [`denied: ${rest} more; --json lists them`] : [])]
}
