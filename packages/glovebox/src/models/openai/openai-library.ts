import type { AzureOpenAI, OpenAI } from "openai"
import { loadPackage } from "../../core/load-package.ts"
import { boundedFetch } from "../bounded-fetch.ts"
import { withoutEnvironment } from "../without-environment.ts"

/** The library, which is loaded only when a model is asked for the first time. */
export async function loadOpenAI(): Promise<{ OpenAI: typeof OpenAI; AzureOpenAI: typeof AzureOpenAI }> {
  return loadPackage("openai", "This model client", () => import("openai"))
}

/** Options for the library: what it would do by itself, the client does. */
export const LIBRARY_OPTIONS = {
  maxRetries: 0,
  // The client's own deadline comes first.
  timeout: 2_147_483_647,
  // It would print what it cannot read.
  logLevel: "off",
  // The key was given for this address, and for no other.
  fetchOptions: { redirect: "manual" },
  fetch: boundedFetch,
} as const

/** Makes the library's client from what it is given alone. */
export function isolated<T>(make: () => T): T {
  return withoutEnvironment(/^(?:AZURE_)?OPENAI_/, make)
}
