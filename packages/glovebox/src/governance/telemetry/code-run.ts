import type { Attributes } from "@opentelemetry/api"
import type { CodeBlock } from "../../executors/code-block.ts"
import type { CodeResult } from "../../executors/code-result.ts"
import { sha256Of } from "../audit/code-run-data.ts"
import type { Instruments } from "./instruments.ts"
import { AGENT_NAME, ERROR_TYPE, EXECUTOR, POLICY_SHA256, TERMINATION } from "./names.ts"
import type { Measured } from "./observation.ts"
import type { Observed } from "./observed.ts"
import type { Subject } from "./observer.ts"
import { plainName } from "./plain-name.ts"

export interface CodeRunInfo {
  readonly agent: string
  /** What the executor is called; the result's own word for it where this is left out. */
  readonly executor?: string | undefined
  readonly blocks: readonly CodeBlock[]
  readonly policySha256?: string | undefined
  /** @default the span that is active */
  readonly parent?: Observed<unknown> | undefined
}

// A list in an attribute is to stay a list that somebody can look at.
const MOST_BLOCKS = 32

export function codeRun(info: CodeRunInfo): Subject<CodeResult> {
  const { agent, executor, policySha256 } = info
  const blocks = info.blocks.slice(0, MOST_BLOCKS)
  return {
    name: executor === undefined ? "run_code" : `run_code ${executor}`,
    attributes: () => ({
      [AGENT_NAME]: agent,
      [EXECUTOR]: executor,
      [POLICY_SHA256]: policySha256,
      "glovebox.code.blocks": info.blocks.length,
      "glovebox.code.languages": [...new Set(blocks.map(({ language }) => plainName(language)))],
      "glovebox.code.sha256": blocks.map(({ code }) => sha256Of(code)),
    }),
    content: (redact) => ({
      "glovebox.code.content": JSON.stringify(
        blocks.map(({ language, code }) => ({ language: redact(plainName(language)), code: redact(code) })),
      ),
    }),
    outcome: (result) => attributesOf(result, executor),
    outcomeContent: ({ output }, redact) => ({ "glovebox.code.output": redact(output) }),
    failure: failureOf,
    measure: (instruments, measured) => measure(instruments, measured, executor),
  }
}

function attributesOf({ sandbox, ...result }: CodeResult, executor: string | undefined): Attributes {
  const limitsHit = new Set(result.blocks.flatMap((block) => block.limitsHit))
  return {
    [EXECUTOR]: executor ?? sandbox.kind,
    [POLICY_SHA256]: sandbox.policySha256,
    [TERMINATION]: result.termination,
    "process.exit.code": result.exitCode,
    "container.id": sandbox.containerId,
    "container.image.id": sandbox.imageDigest,
    "container.image.name": sandbox.image,
    "glovebox.code.limits_hit": limitsHit.size > 0 ? [...limitsHit] : undefined,
    "glovebox.code.truncated": result.truncated,
    "glovebox.code.artifacts": result.artifacts.length,
    "glovebox.sandbox.kind": sandbox.kind,
    "glovebox.sandbox.isolation": sandbox.isolation,
    "glovebox.sandbox.runtime": sandbox.runtime,
    "glovebox.sandbox.pooled": sandbox.pooled,
  }
}

function failureOf({ termination, exitCode }: CodeResult): string | undefined {
  if (termination !== "exit") return termination
  return exitCode === 0 ? undefined : "exit_code"
}

function measure(
  { codeRuns, codeDuration, sandboxStarts }: Instruments,
  { seconds, outcome, errorType }: Measured<CodeResult>,
  executor: string | undefined,
): void {
  const name = { [EXECUTOR]: executor ?? outcome?.sandbox.kind ?? "unknown" }
  const measured = {
    ...name,
    [TERMINATION]: outcome?.termination ?? "none",
    ...(errorType === undefined ? {} : { [ERROR_TYPE]: errorType }),
  }
  codeRuns.add(1, measured)
  codeDuration.record(seconds, measured)
  // The one sandbox of a session is given to each of its runs.
  if (outcome?.sandbox.isolation !== "run" || outcome.sandbox.pooled === undefined) return
  sandboxStarts.add(1, { ...name, "glovebox.sandbox.pooled": outcome.sandbox.pooled })
}
