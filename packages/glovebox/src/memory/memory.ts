import type { JsonValue } from "../core/index.ts"
import type { LLMMessage } from "../models/index.ts"

/** Something worth remembering. */
export interface MemoryContent {
  /** Text, or data for "application/json". */
  readonly content: JsonValue
  /** @default "text/plain" for text, else "application/json" */
  readonly mimeType?: "text/plain" | "text/markdown" | "application/json" | undefined
  readonly metadata?: Readonly<Record<string, JsonValue>> | undefined
}

export interface MemoryCallOptions {
  readonly signal?: AbortSignal | undefined
}

/** A request with what was remembered for it. */
export interface UpdateContextResult {
  /** The messages to send; the conversation itself is not changed. */
  readonly messages: readonly LLMMessage[]
  /** What was put into them. */
  readonly memories: readonly MemoryContent[]
}

/** What an agent remembers beyond its conversation. */
export interface Memory extends AsyncDisposable {
  readonly name: string

  add(content: MemoryContent, options?: MemoryCallOptions): Promise<void>

  /** What is remembered about something; a memory without a search gives everything. */
  query(query: string, options?: MemoryCallOptions): Promise<readonly MemoryContent[]>

  /** Puts what fits into the messages of one request. It is called for each, and keeps nothing in the conversation. */
  updateContext(messages: readonly LLMMessage[], options?: MemoryCallOptions): Promise<UpdateContextResult>

  clear(): Promise<void>

  close(): Promise<void>
}
