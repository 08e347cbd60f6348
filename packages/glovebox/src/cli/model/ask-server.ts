import type { z } from "zod"
import { boundedFetch } from "../../models/bounded-fetch.ts"

export interface AskServerOptions<Schema extends z.ZodType> {
  readonly schema: Schema
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Sent by POST. */
  readonly body?: unknown
  readonly apiKey?: string | undefined
}

/** What a server that may not be there answers; undefined when it does not, in time and as expected. */
export async function askServer<Schema extends z.ZodType>(
  url: string,
  { schema, timeoutMs, signal, body, apiKey }: AskServerOptions<Schema>,
): Promise<z.output<Schema> | undefined> {
  try {
    const response = await boundedFetch(url, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    return response.ok ? schema.parse(await response.json()) : undefined
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}
