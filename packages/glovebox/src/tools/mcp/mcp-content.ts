import { type Image, imageFromBase64 } from "../../models/index.ts"
import { type ResultContent, imageContent, textContent } from "../index.ts"
import type { McpResult } from "./mcp-connection.ts"

/** What a server answered, as the parts of a result; what a model cannot be shown is told in words. */
export function contentsOf({ content, structuredContent }: McpResult): readonly ResultContent[] {
  const parts = content.map(contentOf)
  // Only servers that think of programs alone leave the text out.
  if (parts.length === 0 && structuredContent !== undefined)
    return [textContent(JSON.stringify(structuredContent))]
  return parts.length === 0 ? [textContent("The tool has finished. It returns nothing.")] : parts
}

function contentOf(block: McpResult["content"][number]): ResultContent {
  switch (block.type) {
    case "text":
      return textContent(block.text)
    case "image":
      return imageOrNote(block.data, block.mimeType, "an image")
    case "audio":
      return note("audio", block.mimeType, block.data)
    case "resource_link":
      return textContent(
        `[${block.name}: ${block.uri}${block.mimeType === undefined ? "" : `, ${block.mimeType}`}]`,
      )
    case "resource": {
      const { resource } = block
      if ("text" in resource) return textContent(`[${resource.uri}]\n${resource.text}`)
      return imageOrNote(resource.blob, resource.mimeType ?? "application/octet-stream", resource.uri)
    }
    default:
      // A later protocol may have more.
      return textContent(`[${JSON.stringify((block as { readonly type: unknown }).type)} cannot be shown]`)
  }
}

function imageOrNote(data: string, mimeType: string, what: string): ResultContent {
  const image = mimeType.startsWith("image/") ? readImage(data) : undefined
  return image ? imageContent(image) : note(what, mimeType, data)
}

function readImage(data: string): Image | undefined {
  try {
    return imageFromBase64(data)
  } catch {
    return undefined
  }
}

function note(what: string, mimeType: string, data: string): ResultContent {
  return textContent(`[${what}, ${mimeType}, ${Math.floor(data.length * 0.75)} bytes, which cannot be shown]`)
}
