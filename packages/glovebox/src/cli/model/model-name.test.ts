import { describe, expect, it } from "vitest"
import { readModelName } from "./model-name.ts"

describe("readModelName", () => {
  it.each([
    ["openai/gpt-5-mini", "openai", "gpt-5-mini"],
    ["anthropic/claude-x", "anthropic", "claude-x"],
    ["ollama/llama3.2", "ollama", "llama3.2"],
    ["ollama/user/model:8b", "ollama", "user/model:8b"],
    ["openai/anthropic/claude-x", "openai", "anthropic/claude-x"],
    ["gpt-4o", "openai", "gpt-4o"],
    ["o3", "openai", "o3"],
    ["claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5"],
    ["qwen3:8b", "ollama", "qwen3:8b"],
    ["meta-llama/Llama-3.3-70B", undefined, "meta-llama/Llama-3.3-70B"],
    ["mistral", undefined, "mistral"],
    ["openai", undefined, "openai"],
  ])("reads %s as %s and %s", (text, provider, name) => {
    expect(readModelName(text)).toEqual({ provider, name })
  })
})
