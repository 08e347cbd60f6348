/** How a call ended: both kinds of peers in one shape. */
export type Outcome =
  | { readonly value: unknown }
  | { readonly code: string | undefined; readonly text: string }

/** Never rejects, so that a test can do more before it looks. */
export async function outcomeOf(call: Promise<unknown>): Promise<Outcome> {
  try {
    return { value: await call }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const code = "code" in error && typeof error.code === "string" ? error.code : undefined
    return { code, text: error.message }
  }
}
