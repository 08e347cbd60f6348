import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  type JsonValue,
  defineComponent,
} from "../core/index.ts"
import { formatIssues } from "../internal/format-issues.ts"
import type { LLMMessage } from "../models/index.ts"
import type { Memory, MemoryCallOptions, MemoryContent, UpdateContextResult } from "./memory.ts"

const MIME_TYPES = ["text/plain", "text/markdown", "application/json"] as const

const contentSchema = z.strictObject({
  content: z.json(),
  mimeType: z.enum(MIME_TYPES).optional(),
  metadata: z.record(z.string(), z.json()).optional(),
})

const configSchema = z.object({
  name: z.string().nullish(),
  memory_contents: z
    .array(
      z.object({
        content: z.json(),
        mime_type: z.enum(MIME_TYPES).nullish(),
        metadata: z.record(z.string(), z.json()).nullish(),
      }),
    )
    .default([]),
})

export interface ListMemoryOptions {
  /** @default "list_memory" */
  readonly name?: string | undefined
  /** @default [] */
  readonly contents?: readonly MemoryContent[] | undefined
}

/** Remembers everything, in the order it came, and tells all of it with each request. */
export class ListMemory implements Memory, Component {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, ListMemory> = defineComponent(
    {
      provider: "glovebox.memory.ListMemory",
      aliases: ["autogen_core.memory.ListMemory"],
      type: "memory",
      config: configSchema,
      create: ({ name, memory_contents: contents }) =>
        new ListMemory({
          name: name ?? undefined,
          contents: contents.map(({ content, mime_type: mimeType, metadata }) => ({
            content: content as JsonValue,
            ...(mimeType ? { mimeType } : {}),
            ...(metadata ? { metadata } : {}),
          })),
        }),
    },
  )

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

  /** With everything that it remembers. */
  toComponent(): ComponentModel {
    return ListMemory.definition.dump({
      name: this.name,
      memory_contents: this.#contents.map(({ content, mimeType: mime_type, metadata }) => ({
        content: content as z.core.util.JSONType,
        mime_type,
        metadata: metadata as Record<string, z.core.util.JSONType> | undefined,
      })),
    })
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
