import { z } from "zod"
import type { CodeResult, Termination } from "../../executors/index.ts"

const denialSchema = z.object({ resource: z.string(), message: z.string(), suggestion: z.string() })

/** What is told of a run of code: a result without the bytes of its files. */
export const codeRunSchema = z.object({
  exitCode: z.number(),
  /** stdout and stderr in the order they came. */
  output: z.string(),
  termination: z.custom<Termination>((value) => typeof value === "string"),
  truncated: z.boolean(),
  durationMs: z.number(),
  /** Files that the code made or changed. */
  artifacts: z.array(z.object({ path: z.string(), size: z.number(), sha256: z.string() })).readonly(),
  /** What it was not let reach, each once. */
  denials: z.array(denialSchema).readonly(),
  /** The wall around it. */
  sandbox: z.object({
    kind: z.string(),
    policySha256: z.string(),
    image: z.string().optional(),
    imageDigest: z.string().optional(),
    runtime: z.string().optional(),
  }),
})

export type CodeRun = Readonly<z.infer<typeof codeRunSchema>>

/** A result as it is told in events. */
export function toCodeRun(result: CodeResult): CodeRun {
  const { exitCode, output, termination, truncated, durationMs, artifacts, sandbox, egress = [] } = result
  const denials = new Map(egress.flatMap(({ denial }) => (denial ? [[denial.message, denial] as const] : [])))
  const { kind, policySha256, image, imageDigest, runtime } = sandbox
  return {
    exitCode,
    output,
    termination,
    truncated,
    durationMs,
    artifacts: artifacts.map(({ path, size, sha256 }) => ({ path, size, sha256 })),
    denials: [...denials.values()].map(({ resource, message, suggestion }) => ({
      resource,
      message,
      suggestion,
    })),
    sandbox: { kind, policySha256, image, imageDigest, runtime },
  }
}
