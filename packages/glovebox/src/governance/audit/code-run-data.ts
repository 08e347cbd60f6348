import { createHash } from "node:crypto"
import type { JsonValue } from "../../core/json.ts"
import type { CodeBlock } from "../../executors/code-block.ts"
import type { CodeResult } from "../../executors/code-result.ts"
import type { EgressEvent } from "../../egress/index.ts"
import { hashPayload } from "../approval/approval-payload.ts"
import type { AuditData } from "./record-kinds.ts"

export interface CodeRunContent {
  /** Records the code itself, not only its hash. @default false */
  readonly code?: boolean | undefined
  /** Records what came out, not only its hash. @default false */
  readonly output?: boolean | undefined
}

type CodeRun = AuditData<"code-run">

const SHA256 = /^[0-9a-f]{64}$/

/** What is recorded before code runs. */
export function codeRunIntent(
  id: string,
  blocks: readonly CodeBlock[],
  content: CodeRunContent = {},
): CodeRun {
  return {
    phase: "intent",
    id,
    blocks: blocks.map((block) => codeBlockData(block, content)),
    codeSha256: hashPayload({
      codeBlocks: blocks.map(({ code, language, file }) => ({ code, language, file })),
    }),
  }
}

/** What is recorded after code ran, from the sandbox's own report. */
export function codeRunDone(
  intent: CodeRun,
  { sandbox, ...result }: CodeResult,
  content: CodeRunContent = {},
): CodeRun {
  return {
    ...intent,
    phase: "done",
    executor: sandbox.kind,
    // An executor of somebody's own may have none to tell.
    policySha256: SHA256.test(sandbox.policySha256) ? sandbox.policySha256 : intent.policySha256,
    isolation: sandbox.isolation,
    image: sandbox.image,
    imageDigest: sandbox.imageDigest,
    runtime: sandbox.runtime,
    containerId: sandbox.containerId,
    engine: sandbox.engine,
    effective: plainJson(sandbox.effective),
    limitsHit: [...new Set(result.blocks.flatMap((block) => block.limitsHit))],
    exitCode: result.exitCode,
    termination: result.termination,
    durationMs: result.durationMs,
    outputSha256: sha256Of(result.output),
    outputBytes: Buffer.byteLength(result.output),
    output: content.output === true ? result.output : undefined,
    truncated: result.truncated,
    artifacts: result.artifacts.map(({ path, size, sha256 }) => ({ path, size, sha256 })),
  }
}

/** What is recorded when code could not run, or was cancelled. */
export function codeRunFailed(intent: CodeRun, error: string, durationMs: number): CodeRun {
  return { ...intent, phase: "failed", error, durationMs }
}

/** What is recorded of a program's way out. */
export function egressData({ state, connection }: EgressEvent, id?: string): AuditData<"egress"> {
  const { id: number, denial, secrets, secretsWithheld, ...rest } = connection
  return {
    ...rest,
    state,
    id,
    connection: number,
    denial: denial && { ...denial },
    secrets: secrets?.map((use) => ({ ...use })),
    secretsWithheld: secretsWithheld && [...secretsWithheld],
  }
}

export function sha256Of(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex")
}

function codeBlockData({ code, language }: CodeBlock, content: CodeRunContent): CodeRun["blocks"][number] {
  return { language, sha256: sha256Of(code), code: content.code === true ? code : undefined }
}

// What an engine says may hold what JSON has no form for; a report is not to fail for that.
function plainJson(value: Readonly<Record<string, unknown>>): Record<string, JsonValue> {
  return JSON.parse(
    JSON.stringify(value, (_, item: unknown) => (typeof item === "bigint" ? item.toString() : item)),
  ) as Record<string, JsonValue>
}
