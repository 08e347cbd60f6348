/** A tool as a model sees it. */
export interface ToolSchema {
  /** Letters, digits, "_" and "-", at most 64. */
  readonly name: string
  readonly description?: string | undefined
  /** The JSON Schema of the arguments, an object schema; none means no arguments. It is passed on whole. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined
  /** Asks the provider to keep exactly to the schema. @default false */
  readonly strict?: boolean | undefined
}

/** A tool's schema, or anything that has one, such as a tool. */
export type ToolLike = ToolSchema | { readonly schema: ToolSchema }

/** Whether the model may, must or must not call a tool, or which one it must call. */
export type ToolChoice = "auto" | "required" | "none" | { readonly name: string }
