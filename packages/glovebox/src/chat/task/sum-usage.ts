import type { RequestUsage } from "../../models/index.ts"

export const NO_USAGE: RequestUsage = { promptTokens: 0, completionTokens: 0 }

export function addUsage(a: RequestUsage, b: RequestUsage | undefined): RequestUsage {
  if (!b) return a
  return {
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
  }
}

/** What the model calls behind all of them used. */
export function sumUsage(
  items: readonly { readonly modelsUsage?: RequestUsage | undefined }[],
): RequestUsage {
  return items.reduce((sum, { modelsUsage }) => addUsage(sum, modelsUsage), NO_USAGE)
}
