import type { Tool as AiTool } from "ai"
import { loadPackage } from "../../core/load-package.ts"
import { type Tool, type ToolResult, toolResultText } from "../index.ts"

type ModelOutput = Awaited<ReturnType<NonNullable<AiTool<unknown, ToolResult>["toModelOutput"]>>>

/** Tools of Glovebox for the Vercel AI SDK, version 6: `generateText({ tools: await aiSdkTools([...]) })`. */
export async function aiSdkTools(
  tools: readonly Tool[],
): Promise<Record<string, AiTool<unknown, ToolResult>>> {
  const { jsonSchema, tool: aiTool } = await loadPackage("ai", "aiSdkTools", () => import("ai"))
  const entries = tools.map((tool) => {
    const { description, parameters = {}, strict } = tool.schema
    const made = aiTool<unknown, ToolResult>({
      ...(description === undefined ? {} : { description }),
      // The tool checks the arguments itself, so that the model is told in its words.
      inputSchema: jsonSchema(parameters),
      ...(strict === true ? { strict } : {}),
      needsApproval: async (args) => tool.needsApproval(args),
      // The library calls it only after the approval that it has asked for.
      execute: async (args, { abortSignal, toolCallId }) =>
        tool.run(args, { signal: abortSignal, callId: toolCallId, approve: () => ({ approved: true }) }),
      toModelOutput: ({ output }) => modelOutput(output),
    })
    return [tool.name, made] as const
  })
  return Object.fromEntries(entries)
}

function modelOutput(output: ToolResult): ModelOutput {
  if (output.isError) return { type: "error-text", value: toolResultText(output) }
  if (output.result.every(({ type }) => type === "TextResultContent")) {
    return { type: "text", value: toolResultText(output) }
  }
  return {
    type: "content",
    value: output.result.map(({ type, content }) =>
      type === "TextResultContent"
        ? { type: "text", text: content }
        : { type: "image-data", data: content.data, mediaType: content.mediaType },
    ),
  }
}
