import { createHash } from "node:crypto"
import { z } from "zod"

const READABLE = 24

/** A name that can be told from all others, also as bytes, and printed. */
export const distinctNameSchema = z
  .string()
  .min(1)
  .max(200)
  .refine((name) => !/[\p{Cc}\p{Cs}]/u.test(name), "has control characters, or half a character")

/**
 * A name for containers and folders that no other tenant has: what can be read of it, and a digest, as different names
 * may look the same once what is not allowed is taken out.
 */
export function distinctName(name: string): string {
  const readable = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, READABLE)
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 16)
  return readable === "" ? digest : `${readable}-${digest}`
}
