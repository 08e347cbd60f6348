import { z } from "zod"
import { type Component, type ComponentDefinition, GloveboxError, defineComponent } from "../../core/index.ts"
import { type CodeExecutor, type CodeResult, executorPart } from "../../executors/index.ts"
import { withoutResult } from "../../executors/result-of.ts"
import { formatIssues } from "../../internal/format-issues.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { choicesConfigShape, choicesFromConfig, choicesToConfig } from "../choices-config.ts"
import { type Tool, type ToolOptions, type ToolResult, imageContent, textContent, tool } from "../index.ts"
import { errorResult } from "../tool-result.ts"
import { denialOf } from "./denial-of.ts"
import { describeCodeResult } from "./describe-code-result.ts"
import { GovernedExecutors } from "./governed-executors.ts"
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
export function codeExecutionTool(options: CodeExecutionToolOptions): Tool & Component {
  const { error } = optionsSchema.safeParse(options)
  if (error)
    throw new GloveboxError(
      "TOOL_INVALID",
      `The tool's options are not valid: ${formatIssues(error.issues)}.`,
    )
  return { ...makeTool(options), toComponent: () => codeExecutionToolComponent.dump(configOf(options)) }
}

const configSchema = z.strictObject({
  executor: z.unknown(),
  languages: z.array(z.string()).nullish(),
  name: z.string().nullish(),
  description: z.string().nullish(),
  ...choicesConfigShape,
})

/** Makes the tool and its executor from a component's data; disposing the tool ends the executor. */
export const codeExecutionToolComponent: ComponentDefinition<
  z.input<typeof configSchema>,
  Tool & AsyncDisposable
> = defineComponent({
  provider: "glovebox.tools.CodeExecutionTool",
  aliases: ["autogen_ext.tools.code_execution.PythonCodeExecutionTool"],
  type: "tool",
  config: configSchema,
  create: ({ executor: model, languages, name, description, ...choices }, loader) => {
    const executor = executorPart.load(model, loader)
    const made = codeExecutionTool({
      executor,
      languages: (languages as [string, ...string[]] | null | undefined) ?? undefined,
      name: name ?? undefined,
      description: description ?? undefined,
      ...choicesFromConfig(choices),
    })
    return { ...made, [Symbol.asyncDispose]: async () => executor.stop() }
  },
})

function configOf(options: CodeExecutionToolOptions): z.input<typeof configSchema> {
  const { executor, languages, name, description } = options
  return {
    executor: executorPart.dump(executor, "executor"),
    languages: languages && [...languages],
    name,
    description,
    ...choicesToConfig(`Tool ${name ?? "execute_code"}`, options),
  }
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
  const behind = new GovernedExecutors(executor)
  return tool({
    name,
    description,
    parameters: parameters as typeof codeSchema,
    approval,
    risk,
    errors,
    async *execute(args, { signal, governor }) {
      let result: CodeResult | undefined
      const block = { code: args.code, language: args.language ?? first }
      try {
        for await (const event of behind.of(governor).stream([block], { signal })) {
          if (event.type === "stdout" || event.type === "stderr") {
            if (event.text !== "") yield event.text
          } else if (event.type === "finished") ({ result } = event)
        }
      } catch (error) {
        const denial = denialOf(error)
        if (denial === undefined) throw error
        return errorResult(name, denial)
      }
      if (!result) throw withoutResult()
      return {
        type: "ToolResult",
        name,
        result: [textContent(describeCodeResult(result, limits)), ...imagesOf(result).map(imageContent)],
        isError: result.exitCode !== 0,
      } satisfies ToolResult
    },
  })
}
