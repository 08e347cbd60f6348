import type { FunctionTool } from "@openai/agents"
import { loadPackage } from "../../core/load-package.ts"
import { imageDataUri } from "../../models/index.ts"
import { type Tool, type ToolResult, toolResultText } from "../index.ts"

/** Tools of Glovebox for the OpenAI Agents SDK: `new Agent({ tools: await openAIAgentsTools([...]) })`. */
export async function openAIAgentsTools(tools: readonly Tool[]): Promise<FunctionTool[]> {
  const { tool: agentsTool } = await loadPackage(
    "@openai/agents",
    "openAIAgentsTools",
    () => import("@openai/agents"),
  )
  return tools.map((tool) => {
    const { name, description = "", parameters = {}, strict = false } = tool.schema
    const made = agentsTool({
      name,
      description,
      // Its type knows a part of JSON Schema only; it is passed on as it is.
      parameters: { additionalProperties: !strict, required: [], properties: {}, ...parameters } as never,
      strict: strict as never,
      needsApproval: async (_context: unknown, args: unknown) => tool.needsApproval(args),
      // The library calls it only after the approval that it has asked for.
      execute: async (
        args: unknown,
        _context: unknown,
        details?: { signal?: AbortSignal; toolCall?: { callId: string } },
      ) =>
        output(
          await tool.run(args, {
            signal: details?.signal,
            callId: details?.toolCall?.callId,
            approve: () => ({ approved: true }),
          }),
        ),
      // What is thrown is fatal; the rest are results already.
      errorFunction: null,
    })
    return made
  })
}

function output(result: ToolResult): unknown {
  if (result.isError || result.result.every(({ type }) => type === "TextResultContent"))
    return toolResultText(result)
  return result.result.map(({ type, content }) =>
    type === "TextResultContent"
      ? { type: "text", text: content }
      : { type: "image", image: imageDataUri(content) },
  )
}
