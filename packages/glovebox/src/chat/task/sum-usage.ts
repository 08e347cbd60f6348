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

/** What a run used beside what its items tell of: the model calls of a team itself. */
export function hiddenUsage(
  whole: RequestUsage,
  items: readonly { readonly modelsUsage?: RequestUsage | undefined }[],
): RequestUsage {
  const told = sumUsage(items)
  return {
    promptTokens: Math.max(0, whole.promptTokens - told.promptTokens),
    completionTokens: Math.max(0, whole.completionTokens - told.completionTokens),
  }
}

/** What came to it since then. */
export function usageSince(before: RequestUsage, now: RequestUsage): RequestUsage {
  return {
    promptTokens: now.promptTokens - before.promptTokens,
    completionTokens: now.completionTokens - before.completionTokens,
  }
}
