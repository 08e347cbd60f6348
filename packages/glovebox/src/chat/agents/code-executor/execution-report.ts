import type { ChatMessage } from "../../messages/index.ts"
import { CODE_EXECUTION } from "../../messages/program-words.ts"

/** Marks words that are no model's and no person's: what a program printed, or why it did not run. */
export const EXECUTION_REPORT: Readonly<Record<string, string>> = { origin: CODE_EXECUTION }

/** Whether it is what an agent tells of code; a program can print fences, and nobody wrote those to be run. */
export function isExecutionReport({ metadata }: ChatMessage): boolean {
  return metadata["origin"] === CODE_EXECUTION
}
