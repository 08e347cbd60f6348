import { type ErrorCode, GloveboxError, authorizeAccess, currentAccess, isMessage } from "../core/index.ts"
import { abortable } from "../internal/abortable.ts"
import { errorMessage } from "../internal/error-message.ts"
import { formatIssues } from "../internal/format-issues.ts"
import type { Approve } from "./approval.ts"
import type { CallGuard } from "./call-guard.ts"
import { hashCall } from "./hash-call.ts"
import { UNRECORDED } from "./rule-errors.ts"
import { isImage, isPart, toContent, toContents } from "./to-contents.ts"
import type { ToolDefinition } from "./tool-definition.ts"
import type { ToolGovernor } from "./tool-governor.ts"
import {
  type ToolChunk,
  type ToolResult,
  type ToolStreamItem,
  errorResult,
  textContent,
} from "./tool-result.ts"

export interface RunToolOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  readonly callId?: string | undefined
  /** Asked when the tool needs an approval; without it such a call is refused. */
  readonly approve?: Approve | undefined
  /** The rules of whoever calls it, for tools that do more than they answer. */
  readonly governor?: ToolGovernor | undefined
  /** Stands before the call. */
  readonly guard?: CallGuard | undefined
}

// These are for whoever runs the agent, whatever the tool's owner chose for its errors.
const PASSED_ON: readonly ErrorCode[] = [
  "ACCESS_DENIED",
  "APPROVAL_DENIED",
  "APPROVAL_PENDING",
  ...UNRECORDED,
]

/** Calls a tool: yields what it tells while it runs and, as the last item, its result. `authorizeTool` comes first. */
export async function* streamTool(
  definition: ToolDefinition,
  given: unknown,
  { signal, ...options }: RunToolOptions,
  isAuthorized = false,
): AsyncGenerator<ToolStreamItem, ToolResult, undefined> {
  signal?.throwIfAborted()
  if (!isAuthorized) await authorizeTool(definition.schema.name, signal)
  const left = new AbortController()
  const inner = signal ? AbortSignal.any([signal, left.signal]) : left.signal
  try {
    const result = yield* call(definition, given, { ...options, signal: inner })
    yield result
    return result
  } finally {
    left.abort(new GloveboxError("TOOL_FAILED", "The loop over the tool's stream was left."))
  }
}

/** Asks whether the agent on whose behalf this code runs may call the tool. */
export async function authorizeTool(name: string, signal: AbortSignal | undefined): Promise<void> {
  const access = currentAccess()
  if (access) await authorizeAccess(access, { kind: "tool", name }, signal)
}

type Call = RunToolOptions & { readonly signal: AbortSignal }

async function* call(
  definition: ToolDefinition,
  given: unknown,
  options: Call,
): AsyncGenerator<ToolStreamItem, ToolResult, undefined> {
  const { name } = definition.schema
  const checked = await checkArguments(definition, given ?? {}, options)
  if ("refusal" in checked) return checked.refusal
  const approved = await askApproval(definition, checked.value, options)
  if ("refusal" in approved) return approved.refusal
  const { guard } = options
  if (guard) {
    await abortable(guard.begin({ arguments: approved.value, risk: definition.risk }), options.signal)
    options.signal.throwIfAborted()
  }
  try {
    const result = yield* execute(definition, approved.value, options)
    return result
  } catch (error) {
    // Whoever ended the call is told so, and not of what came of it.
    options.signal.throwIfAborted()
    if (PASSED_ON.some((code) => GloveboxError.is(error, code))) throw error
    if (definition.errorChoice(error) === "result") return errorResult(name, failureText(error))
    throw new GloveboxError("TOOL_FAILED", `Tool ${name} failed: ${failureText(error)}`, { cause: error })
  }
}

type Checked = { readonly value: unknown } | { readonly refusal: ToolResult }

async function checkArguments(
  { schema, check }: ToolDefinition,
  given: unknown,
  { signal }: Call,
): Promise<Checked> {
  const checked = await abortable(check(given), signal)
  if (!checked.issues) return { value: checked.value }
  const text = `The arguments of ${schema.name} are not valid: ${formatIssues(checked.issues)}. Correct them and call it again.`
  return { refusal: errorResult(schema.name, text) }
}

async function askApproval(definition: ToolDefinition, args: unknown, options: Call): Promise<Checked> {
  const { name } = definition.schema
  const { signal, callId, approve, guard } = options
  const asks = await abortable(Promise.resolve(definition.needsApproval(args)), signal)
  if (!asks && !guard) return { value: args }
  const sha256 = hashCall(name, args)
  const request = { tool: name, risk: definition.risk, arguments: args, sha256, callId, asks, signal }
  if (!asks && guard?.mustAsk(request) === false) return { value: args }
  if (!approve) {
    throw new GloveboxError(
      "TOOL_APPROVAL_REQUIRED",
      `Tool ${name} needs an approval for this call, and there is nobody to ask. Pass approve to whatever calls it.`,
    )
  }
  const decision: unknown = await abortable(Promise.resolve(approve(request)), signal)
  const { approved, reason, arguments: edited } = (decision ?? {}) as Readonly<Record<string, unknown>>
  // Anything but a plain yes is a no.
  if (approved !== true) return notApproved(name, typeof reason === "string" ? reason : undefined)
  if (edited !== undefined) return checkArguments(definition, edited, options)
  return hashCall(name, args) === sha256
    ? { value: args }
    : notApproved(name, "Its arguments were changed while somebody was asked.")
}

function notApproved(name: string, reason: string | undefined): Checked {
  const why = reason === undefined ? "" : ` Reason: ${reason}`
  return { refusal: errorResult(name, `The call of ${name} was not approved. Do not try it again.${why}`) }
}

async function* execute(
  { schema: { name }, execute: run }: ToolDefinition,
  args: unknown,
  { signal, callId, governor }: Call,
): AsyncGenerator<ToolStreamItem, ToolResult, undefined> {
  let returned: unknown = await abortable(Promise.resolve(run(args, { signal, callId, governor })), signal)
  if (isAsyncGenerator(returned)) {
    const stream = returned
    let isDone = false
    try {
      for (;;) {
        const next = await abortable(stream.next(), signal)
        isDone = next.done === true
        if (next.done === true) {
          returned = next.value
          break
        }
        yield chunkOf(name, next.value)
      }
    } finally {
      // Not waited for: it may hang in the very wait that was ended.
      if (!isDone) leave(stream)
    }
  }
  return isToolResult(returned)
    ? { ...returned, name }
    : { type: "ToolResult", name, result: toContents(returned), isError: false }
}

// What an agent behind the tool says is passed on whole, and is no text of the tool.
function chunkOf(name: string, value: unknown): ToolChunk {
  return isMessage(value)
    ? { type: "ToolChunk", name, content: textContent(""), message: value }
    : { type: "ToolChunk", name, content: toContent(value) }
}

// By hand an iterator may be made without a way to leave it.
function leave(stream: Partial<Pick<AsyncGenerator, "return">>): void {
  Promise.resolve()
    .then(() => stream.return?.(undefined))
    .catch(() => {})
}

function isAsyncGenerator(value: unknown): value is AsyncGenerator {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value
}

// By its whole shape: what a tool returns may be from anywhere.
function isToolResult(value: unknown): value is ToolResult {
  if (typeof value !== "object" || value === null || !("type" in value) || value.type !== "ToolResult")
    return false
  const { result, isError } = value as Partial<ToolResult>
  return (
    Array.isArray(result) && result.every(isPart) && !result.some(isImage) && typeof isError === "boolean"
  )
}

// A group of errors says nothing itself.
function failureText(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(failureText).join("; ")
  const text = errorMessage(error)
  return text === "" ? "It failed without saying why." : text
}
