import type { Redactor } from "../../governance/index.ts"
import type { SessionResult } from "../../tools/mcp-server/index.ts"

type Part = SessionResult["content"][number]

/** What a caller gets, without secrets in its texts. Pictures and other data pass as they are. */
export function redactSessionResult(result: SessionResult, redactor: Redactor): SessionResult {
  return { ...result, content: result.content.map((part) => redactPart(part, redactor)) }
}

/** The texts of a result, for its hash. */
export function textsOf({ content }: SessionResult): readonly string[] {
  return content.flatMap((part) => {
    if (part.type === "text") return [part.text]
    if (part.type === "resource" && "text" in part.resource) return [part.resource.text]
    return []
  })
}

function redactPart(part: Part, redactor: Redactor): Part {
  if (part.type === "text") return { ...part, text: redactor.text(part.text) }
  if (part.type !== "resource") return part
  const { resource } = part
  const uri = redactor.text(resource.uri)
  return {
    ...part,
    resource:
      "text" in resource ? { ...resource, uri, text: redactor.text(resource.text) } : { ...resource, uri },
  }
}
