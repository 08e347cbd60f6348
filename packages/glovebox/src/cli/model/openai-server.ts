import { z } from "zod"
import { askServer } from "./ask-server.ts"

const LIST_MS = 5000

const modelsSchema = z.object({ data: z.array(z.object({ id: z.string() })) })

/** The first model that a server of OpenAI's kind lists. */
export async function firstServedModel(
  baseURL: string,
  apiKey: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const options = { schema: modelsSchema, timeoutMs: LIST_MS, signal, apiKey }
  const list = await askServer(`${baseURL.replace(/\/+$/, "")}/models`, options)
  return list?.data.find(({ id }) => !/embed/i.test(id))?.id
}
