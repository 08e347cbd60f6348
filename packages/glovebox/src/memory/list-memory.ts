import { z } from "zod"
import { GloveboxError } from "../core/index.ts"
import { formatIssues } from "../internal/format-issues.ts"
import type { LLMMessage } from "../models/index.ts"
import type { Memory, MemoryCallOptions, MemoryContent, UpdateContextResult } from "./memory.ts"

const contentSchema = z.strictObject({
  content: z.json(),
  mimeType: z.enum(["text/plain", "text/markdown", "application/json"]).optional(),
  metadata: z.record(z.string(), z.json()).optional(),
})

export interface ListMemoryOptions {
  /** @default "list_memory" */
  readonly name?: string | undefined
  /** @default [] */
  readonly contents?: readonly MemoryContent[] | undefined
}

/** Remembers everything, in the order it came, and tells all of it with each request. */
export class ListMemory implements Memory {
  readonly name: string
  #contents: MemoryContent[]

  constructor({ name = "list_memory", contents = [] }: ListMemoryOptions = {}) {
    this.name = name
    this.#contents = contents.map(read)
  }

  /** What is remembered. */
  get contents(): readonly MemoryContent[] {
    return [...this.#contents]
  }

  async add(content: MemoryContent, { signal }: MemoryCallOptions = {}): Promise<void> {
    signal?.throwIfAborted()
    this.#contents.push(read(content))
  }

  async query(_query = "", { signal }: MemoryCallOptions = {}): Promise<readonly MemoryContent[]> {
    signal?.throwIfAborted()
    return this.contents
  }

  async updateContext(
    messages: readonly LLMMessage[],
    options: MemoryCallOptions = {},
  ): Promise<UpdateContextResult> {
    const memories = await this.query("", options)
    if (memories.length === 0) return { messages, memories }
    const lines = memories.map((memory, index) => `${index + 1}. ${toText(memory)}`)
    const content = `\nRelevant memory content (in chronological order):\n${lines.join("\n")}\n`
    // With the instructions, where also models that take one system message have a place for it.
    const first = messages.findIndex(({ type }) => type !== "SystemMessage")
    const at = first === -1 ? messages.length : first
    return { messages: messages.toSpliced(at, 0, { type: "SystemMessage", content }), memories }
  }

  async clear(): Promise<void> {
    this.#contents = []
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

function toText({ content }: MemoryContent): string {
  return typeof content === "string" ? content : JSON.stringify(content)
}

function read(content: MemoryContent): MemoryContent {
  const { error } = contentSchema.safeParse(content)
  if (!error) return content
  throw new GloveboxError("OPTION_INVALID", `This cannot be remembered: ${formatIssues(error.issues)}`)
}
