import assert from "node:assert/strict"
import { type ErrorCode, GloveboxError } from "../core/index.ts"
import type { CodeBlock, CodeExecutor, CodeResult, ExecutionEvent } from "../executors/index.ts"

/** What a promise rejects with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => assert.fail(`expected a rejection, but it resolved with ${shortly(value)}`),
    (reason: unknown) => reason,
  )
}

/** Expects a GloveboxError with this code whose message matches. */
export async function rejectsWith(
  promise: Promise<unknown>,
  code: ErrorCode,
  message = /./,
): Promise<GloveboxError> {
  const error = await rejectionOf(promise)
  assert.ok(GloveboxError.is(error), `expected ${code}, but it rejected with ${String(error)}`)
  assert.equal(error.code, code, error.message)
  assert.match(error.message, message)
  return error
}

/** The promise, or a failure when it takes far too long. */
export async function within<T>(promise: Promise<T>, seconds: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${seconds} s`)), seconds * 1000)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Runs blocks and expects that they succeed. */
export async function succeed(executor: CodeExecutor, ...blocks: CodeBlock[]): Promise<CodeResult> {
  const result = await executor.executeCodeBlocks(blocks)
  assert.deepEqual(
    { exitCode: result.exitCode, termination: result.termination },
    { exitCode: 0, termination: "exit" },
    result.output.slice(-2000),
  )
  return result
}

/** Expects that an executor is none the worse for what happened. */
export async function stillWorks(executor: CodeExecutor, print: (text: string) => CodeBlock): Promise<void> {
  const { stdout } = await within(succeed(executor, print("fine")), 30, "the next call")
  assert.equal(stdout, "fine")
}

export interface Started {
  readonly result: Promise<CodeResult>
  /** Resolves with the first text that the code prints. */
  readonly spoke: Promise<string>
}

/** Begins a call and tells when its code has printed something. */
export function begin(
  executor: CodeExecutor,
  blocks: readonly CodeBlock[],
  options: { readonly signal?: AbortSignal } = {},
): Started {
  let isQuiet = true
  let result: Promise<CodeResult> | undefined
  const spoke = new Promise<string>((resolve, reject) => {
    result = executor.executeCodeBlocks(blocks, {
      ...options,
      onOutput: ({ text }) => {
        isQuiet = false
        resolve(text)
      },
    })
    void result.then(() => isQuiet && reject(new Error("the code ended and had printed nothing")), reject)
  })
  spoke.catch(() => {})
  return { result: result!, spoke }
}

/** All events of a run. */
export async function eventsOf(events: AsyncIterable<ExecutionEvent>): Promise<ExecutionEvent[]> {
  const list: ExecutionEvent[] = []
  for await (const event of events) list.push(event)
  return list
}

function shortly(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 500)
}
