import type { Answer } from "../sandbox/agent-answers.ts"

/** What a kernel shows, as it came: its content is JSON that the code wrote. */
export interface RichMessage {
  readonly kind: Answer<"m">["kind"]
  readonly size: number
  /** Undefined when it was larger than the agent passes on. */
  readonly content: Buffer | undefined
}
