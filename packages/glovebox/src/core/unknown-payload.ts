import { z } from "zod"
import { defineMessage } from "./message.ts"

/** A message whose type this process does not know, kept as it came so that it can be passed on. */
export const UnknownPayload = defineMessage(
  "UnknownPayload",
  z.object({
    typeName: z.string(),
    contentType: z.string(),
    data: z.custom<Uint8Array>((value) => value instanceof Uint8Array),
  }),
)
