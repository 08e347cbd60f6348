import { createHash } from "node:crypto"
import type { CodeBlock } from "../../executors/index.ts"

/** Of the code itself; of several blocks, joined by empty lines. */
export function codeSha256(blocks: readonly Pick<CodeBlock, "code">[]): string {
  return createHash("sha256")
    .update(blocks.map(({ code }) => code).join("\n\n"))
    .digest("hex")
}
