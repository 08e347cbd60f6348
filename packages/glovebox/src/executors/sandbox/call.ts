import { createHash } from "node:crypto"
import { GloveboxError } from "../../core/index.ts"
import type { PolicyFields } from "../../policy/index.ts"
import { abortable } from "../../internal/abortable.ts"
import type { Artifact, BlockResult, CodeResult, SandboxReport } from "../code-result.ts"
import type { ExecutionEvent } from "../execution-event.ts"
import { StreamText } from "../stream-text.ts"
import type { WorkspaceFile } from "../workspace-file.ts"
import type { WorkspaceLimits } from "../workspace.ts"
import { runBlock } from "./block-run.ts"
import type { PlannedBlock } from "./plan-blocks.ts"
import type { Collected, SandboxAgent } from "./sandbox-agent.ts"

export interface CallOptions {
  readonly agent: SandboxAgent
  readonly limits: PolicyFields["limits"]
  readonly blocks: readonly PlannedBlock[]
  /** Whether Python runs in the interpreter that is ready. */
  readonly prefersReady: boolean
  /** What to put into the workspace first. */
  readonly files: readonly WorkspaceFile[]
  /** Files to take out of it first. */
  readonly gone: readonly string[]
  /** Called when both are done. */
  readonly onPut: () => void
  /** How much to bring back; undefined for nothing. */
  readonly carry: WorkspaceLimits | undefined
  readonly deletesCodeFiles: boolean
  /** Whether a sandbox that is lost was killed for want of memory. */
  readonly ranOutOfMemory: () => Promise<boolean>
  readonly onEvent: (event: ExecutionEvent) => void
  readonly signal: AbortSignal
}

export interface CallEnd {
  readonly blocks: readonly BlockResult[]
  readonly changes: Collected
  /** Whether the sandbox can be used for more. */
  readonly isAlive: boolean
}

const NO_CHANGES: Collected = { files: [], removed: [], over: false }
const COLLECT_LIMIT_MS = 30_000

/** Puts the files, runs the blocks up to the first failure, and brings back what changed. */
export async function runCall(options: CallOptions): Promise<CallEnd> {
  const { agent, limits, blocks, carry, signal } = options
  const results: BlockResult[] = []
  let outputLeft = limits.output
  let isAlive = true
  if (options.gone.length > 0) agent.remove(options.gone)
  await abortable(agent.put(options.files), AbortSignal.any([signal, agent.lost]))
  options.onPut()
  for (const [index, block] of blocks.entries()) {
    if (agent.prepare) await abortable(agent.prepare(block.argv), AbortSignal.any([signal, agent.lost]))
    options.onEvent({
      type: "block-started",
      block: index,
      language: block.tag,
      codeFile: block.file,
    })
    // What keeps it from arriving is told by the run.
    agent.put([{ path: block.file, content: block.content, executable: false }]).catch(() => {})
    const isLast = index === blocks.length - 1
    const { onOutput, finish } = outputEvents(index, options.onEvent)
    const run = await runBlock({
      agent,
      block,
      limits,
      outputBudget: outputLeft,
      how: canFork(block, options) ? "fork" : "exec",
      onOutput,
      signal,
      thenCollect: isLast && !options.deletesCodeFiles ? carry : undefined,
    })
    finish()
    if (run.lost && !(await options.ranOutOfMemory())) throw run.lost
    results.push(run.result)
    outputLeft -= Buffer.byteLength(run.result.output)
    options.onEvent({ type: "block-finished", block: index, result: run.result })
    isAlive = run.isAlive
    if (!isAlive || run.result.exitCode !== 0 || run.result.termination !== "exit") break
  }
  if (!isAlive) return { blocks: results, changes: NO_CHANGES, isAlive }
  if (options.deletesCodeFiles) {
    const ran = blocks.slice(0, results.length)
    agent.remove(ran.filter(({ named }) => !named).map(({ file }) => file))
  }
  signal.throwIfAborted()
  const collected = carry ? await collect(agent, carry, signal) : NO_CHANGES
  const changes = carry ? withCodeFiles(collected, blocks.slice(0, results.length)) : collected
  return { blocks: results, changes, isAlive: !agent.lost.aborted }
}

// Only the plain command: a table may give Python other programs or arguments.
function canFork({ argv }: PlannedBlock, { agent, prefersReady }: CallOptions): boolean {
  return prefersReady && agent.hasReadyInterpreter && argv.length === 2 && argv[0] === "python3"
}

async function collect(agent: SandboxAgent, carry: WorkspaceLimits, signal: AbortSignal): Promise<Collected> {
  const late = new AbortController()
  const timer = setTimeout(() => {
    const message = `The files of the workspace did not come within ${COLLECT_LIMIT_MS / 1000} s.`
    late.abort(new GloveboxError("WORKSPACE_FAILED", message))
  }, COLLECT_LIMIT_MS)
  try {
    const collected = await abortable(
      agent.collect(carry),
      AbortSignal.any([signal, late.signal, agent.lost]),
    )
    agent.delivered()
    return collected
  } finally {
    clearTimeout(timer)
  }
}

// The agent tells only what changed after it was put; files that the code named are to stay all the same.
function withCodeFiles(changes: Collected, ran: readonly PlannedBlock[]): Collected {
  const told = new Set([...changes.files.map(({ path }) => path), ...changes.removed])
  const kept = new Map(
    ran
      .filter(({ named, file }) => named && !told.has(file))
      .map(({ file, content }) => [file, { path: file, content, executable: false }]),
  )
  return { ...changes, files: [...kept.values(), ...changes.files] }
}

function outputEvents(
  block: number,
  onEvent: (event: ExecutionEvent) => void,
): { onOutput: (stream: "stdout" | "stderr", bytes: Buffer) => void; finish: () => void } {
  const texts = { stdout: new StreamText(), stderr: new StreamText() }
  return {
    onOutput: (type, bytes) => onEvent({ type, block, text: texts[type].push(bytes), bytes }),
    finish: () => {
      for (const type of ["stdout", "stderr"] as const) {
        const text = texts[type].end()
        if (text !== "") onEvent({ type, block, text, bytes: new Uint8Array() })
      }
    },
  }
}

/** The files as artifacts, without those that the executor itself wrote. */
export function artifactsOf(changes: Collected, blocks: readonly PlannedBlock[]): Artifact[] {
  const written = new Map(blocks.map(({ file, content }) => [file, content]))
  return changes.files
    .filter(({ path, content }) => !isSame(written.get(path), content))
    .map(({ path, content, executable }) => ({
      path,
      size: content.length,
      sha256: createHash("sha256").update(content).digest("hex"),
      executable,
      content,
    }))
}

function isSame(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && Buffer.compare(a, b) === 0
}

/** The result of a call from those of its blocks. */
export function codeResult(
  blocks: readonly BlockResult[],
  artifacts: readonly Artifact[],
  artifactsTruncated: boolean,
  sandbox: SandboxReport,
  durationMs: number,
): CodeResult {
  const first = blocks[0]
  const last = blocks.at(-1)
  if (!first || !last) throw new GloveboxError("SANDBOX_BROKEN", "No block ran.")
  const join = (field: "output" | "stdout" | "stderr"): string => blocks.map((block) => block[field]).join("")
  return {
    exitCode: last.exitCode,
    output: join("output"),
    stdout: join("stdout"),
    stderr: join("stderr"),
    termination: last.termination,
    truncated: blocks.some(({ truncated }) => truncated),
    durationMs,
    blocks,
    artifacts,
    artifactsTruncated,
    codeFile: first.codeFile,
    sandbox,
  }
}
