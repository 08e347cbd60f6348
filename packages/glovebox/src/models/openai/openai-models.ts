import { GloveboxError } from "../../core/index.ts"
import { nearest } from "../../internal/nearest.ts"
import type { ModelInfo } from "../model-info.ts"

const full = { vision: true, functionCalling: true, jsonOutput: true, structuredOutput: true }
const openai = { ...full, multipleSystemMessages: true }

// By the start of the name, longest first. The names are families, because versions come and go.
const KNOWN: readonly (readonly [prefix: string, info: ModelInfo])[] = [
  ["gpt-5", { ...openai, family: "gpt-5", contextTokens: 400_000 }],
  ["gpt-4.1", { ...openai, family: "gpt-41", contextTokens: 1_047_576 }],
  ["gpt-4o", { ...openai, family: "gpt-4o", contextTokens: 128_000 }],
  ["chatgpt-4o", { ...openai, functionCalling: false, family: "gpt-4o", contextTokens: 128_000 }],
  ["gpt-4-turbo", { ...openai, structuredOutput: false, family: "gpt-4", contextTokens: 128_000 }],
  ["gpt-4", { ...openai, vision: false, structuredOutput: false, family: "gpt-4", contextTokens: 8192 }],
  ["gpt-3.5", { ...openai, vision: false, structuredOutput: false, family: "gpt-35", contextTokens: 16_385 }],
  ["gpt-oss", { ...full, vision: false, family: "gpt-oss", contextTokens: 131_072 }],
  ["o4-mini", { ...openai, family: "o4", contextTokens: 200_000 }],
  ["o3-mini", { ...openai, vision: false, family: "o3", contextTokens: 200_000 }],
  ["o3", { ...openai, family: "o3", contextTokens: 200_000 }],
  ["o1", { ...openai, family: "o1", contextTokens: 200_000 }],
  ["gemini-", { ...full, family: "gemini", contextTokens: 1_048_576 }],
  [
    "claude-",
    { ...full, jsonOutput: false, structuredOutput: false, family: "claude", contextTokens: 200_000 },
  ],
]

/** What is known of a model; for any other its `modelInfo` has to be given. */
export function openAIModelInfo(model: string, given: ModelInfo | undefined): ModelInfo {
  if (given) return given
  const info = KNOWN.find(([prefix]) => model.startsWith(prefix))?.[1]
  if (info) return info
  const close = nearest(
    model,
    KNOWN.map(([prefix]) => prefix),
  )
  throw new GloveboxError(
    "MODEL_UNKNOWN",
    `Nothing is known of the model "${model}".${close === undefined ? "" : ` Did you mean "${close}"?`} ` +
      "Pass modelInfo: { vision, functionCalling, jsonOutput, structuredOutput, family }.",
  )
}

/** Families that reason before they answer: they name the answer's bound in their own way. */
export function isReasoningFamily(family: string): boolean {
  return /^(?:o\d|gpt-5)/.test(family)
}
