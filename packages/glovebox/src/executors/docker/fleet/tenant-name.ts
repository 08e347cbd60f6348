import { createHash } from "node:crypto"

const READABLE = 24

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
