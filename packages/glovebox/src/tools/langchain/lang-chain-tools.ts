import type { ToolMessage } from "@langchain/core/messages"
import type { DynamicStructuredTool } from "@langchain/core/tools"
import { loadPackage } from "../../core/load-package.ts"
import { type Approve, type Tool, type ToolResult, toolResultText } from "../index.ts"

export interface LangChainToolsOptions {
  /** Asked for calls that need an approval: the library has no such question. Without it they are refused. */
  readonly approve?: Approve | undefined
}

type Content = string | ({ type: "text"; text: string } | { type: "image"; mimeType: string; data: string })[]

/** Tools of Glovebox for LangChain.js: `createAgent({ tools: await langChainTools([...]) })`. */
export async function langChainTools(
  tools: readonly Tool[],
  { approve }: LangChainToolsOptions = {},
): Promise<DynamicStructuredTool[]> {
  const { DynamicStructuredTool: Structured } = await load(() => import("@langchain/core/tools"))
  const { ToolMessage: Message } = await load(() => import("@langchain/core/messages"))
  return tools.map((tool) => {
    const { name, description = "", parameters = {} } = tool.schema
    const made = new Structured({
      name,
      description,
      // Of JSON Schema it takes any; its type is that of an older draft.
      schema: parameters as never,
      func: async (args: unknown, _manager: unknown, config?: Config): Promise<Content | ToolMessage> => {
        const callId = config?.toolCall?.id
        const result = await tool.run(args, { signal: config?.signal, callId, approve })
        if (!result.isError || callId === undefined) return contentOf(result)
        return new Message({ content: toolResultText(result), tool_call_id: callId, name, status: "error" })
      },
    })
    return made
  })
}

interface Config {
  readonly signal?: AbortSignal
  readonly toolCall?: { readonly id?: string }
}

function contentOf(result: ToolResult): Content {
  if (result.result.every(({ type }) => type === "TextResultContent")) return toolResultText(result)
  return result.result.map(({ type, content }) =>
    type === "TextResultContent"
      ? { type: "text", text: content }
      : { type: "image", mimeType: content.mediaType, data: content.data },
  )
}

function load<T>(module: () => Promise<T>): Promise<T> {
  return loadPackage("@langchain/core", "langChainTools", module)
}
