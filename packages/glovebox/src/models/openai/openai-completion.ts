import { z } from "zod"
import { formatIssues } from "../../internal/format-issues.ts"
import type { CreateResult } from "../create-result.ts"
import { ReportedError } from "../reported-error.ts"
import { logprobsSchema, readTexts, textShape, toCreateResult, usageSchema } from "./openai-answer.ts"

/** A call's arguments: JSON text by the API, but an object from some servers. */
export const argumentsSchema = z
  .union([z.string(), z.record(z.string(), z.unknown())])
  .nullish()
  .transform((value) => (typeof value === "object" && value !== null ? JSON.stringify(value) : (value ?? "")))

const completionSchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({
          ...textShape,
          tool_calls: z
            .array(
              z.object({
                id: z.string().nullish(),
                function: z.object({ name: z.string().min(1), arguments: argumentsSchema }),
              }),
            )
            .nullish(),
        }),
        finish_reason: z.string().nullish(),
        logprobs: logprobsSchema,
      }),
    )
    .min(1),
  usage: usageSchema.nullish(),
})

const reportSchema = z.object({ error: z.looseObject({ message: z.string() }) })

/** Reads a whole answer. */
export function readCompletion(body: unknown, family: string): CreateResult {
  const report = reportSchema.safeParse(body)
  if (report.success) throw new ReportedError(report.data.error)
  const { data, error } = completionSchema.safeParse(body)
  if (error) throw new SyntaxError(`the answer does not fit: ${formatIssues(error.issues)}`)
  const [choice] = data.choices
  if (!choice) throw new SyntaxError("the answer has no choices")
  return toCreateResult(
    {
      ...readTexts(choice.message),
      calls: (choice.message.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => ({
        id: id ?? "",
        name,
        arguments: args,
      })),
      finish: choice.finish_reason ?? undefined,
      usage: data.usage ?? undefined,
      logprobs: choice.logprobs?.content ?? [],
    },
    family,
  )
}
