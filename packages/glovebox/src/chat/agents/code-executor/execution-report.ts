import type { ChatMessage } from "../../messages/index.ts"

/** Marks words that are no model's and no person's: what a program printed, or why it did not run. */
export const EXECUTION_REPORT: Readonly<Record<string, string>> = { origin: "code-execution" }

/** Whether it is what an agent tells of code; a program can print fences, and nobody wrote those to be run. */
export function isExecutionReport({ metadata }: ChatMessage): boolean {
  return metadata["origin"] === EXECUTION_REPORT["origin"]
}
