import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import type { CodeExecutor, CodeResult } from "../../executors/index.ts"
import { formatIssues } from "../../internal/format-issues.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { type Tool, type ToolOptions, type ToolResult, imageContent, textContent, tool } from "../index.ts"
import { describeCodeResult } from "./describe-code-result.ts"
import { imagesOf } from "./images-of.ts"

type OfTool = Pick<ToolOptions<typeof codeSchema>, "approval" | "risk" | "errors">

export interface CodeExecutionToolOptions extends OfTool {
  /** Where the code runs. Whoever made it ends it. */
  readonly executor: CodeExecutor
  /** What the model may write; with one, it is not asked which. @default ["python"] */
  readonly languages?: readonly [string, ...string[]] | undefined
  /** @default "execute_code" */
  readonly name?: string | undefined
  /** @default what it does, and in which languages */
  readonly description?: string | undefined
}

const codeSchema = z.object({ code: z.string().min(1), language: z.string().optional() })

const optionsSchema = z.strictObject({
  executor: z.custom<CodeExecutor>(
    (value) => typeof value === "object" && value !== null && "stream" in value,
    "must be a code executor",
  ),
  languages: z.array(z.string().min(1)).min(1, "is empty: name what the model may write").optional(),
  // These are checked as every tool's are.
  name: z.unknown().optional(),
  description: z.unknown().optional(),
  approval: z.unknown().optional(),
  risk: z.unknown().optional(),
  errors: z.unknown().optional(),
})

/** A tool that runs code in an executor; what it printed, how it ended and its images are the result. */
export function codeExecutionTool(options: CodeExecutionToolOptions): Tool {
  const { error } = optionsSchema.safeParse(options)
  if (error)
    throw new GloveboxError(
      "TOOL_INVALID",
      `The tool's options are not valid: ${formatIssues(error.issues)}.`,
    )
  return makeTool(options)
}

function makeTool({
  executor,
  languages = ["python"],
  name = "execute_code",
  description = `Run ${languages.join(" or ")} code and get what it prints, with its exit code, the files it makes and its images. Files stay from call to call.`,
  approval,
  risk,
  errors,
}: CodeExecutionToolOptions): Tool {
  const [first] = languages
  const code = z.string().min(1).describe("The whole program. Print what you want to see.")
  const parameters =
    languages.length === 1 ? z.object({ code }) : z.object({ code, language: z.enum(languages) })
  const limits =
    "policy" in executor && executor.policy instanceof SandboxPolicy
      ? executor.policy.fields.limits
      : undefined
  return tool({
    name,
    description,
    parameters: parameters as typeof codeSchema,
    approval,
    risk,
    errors,
    async *execute(args, { signal }) {
      let result: CodeResult | undefined
      const block = { code: args.code, language: args.language ?? first }
      for await (const event of executor.stream([block], { signal })) {
        if (event.type === "stdout" || event.type === "stderr") {
          if (event.text !== "") yield event.text
        } else if (event.type === "finished") ({ result } = event)
      }
      if (!result) throw new GloveboxError("SANDBOX_LOST", "The run ended without a result.")
      return {
        type: "ToolResult",
        name,
        result: [textContent(describeCodeResult(result, limits)), ...imagesOf(result).map(imageContent)],
        isError: result.exitCode !== 0,
      } satisfies ToolResult
    },
  })
}
