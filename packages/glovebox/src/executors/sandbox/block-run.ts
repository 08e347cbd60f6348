import { constants } from "node:os"
import { GloveboxError } from "../../core/index.ts"
import type { PolicyFields } from "../../policy/index.ts"
import { watchAbort } from "../../internal/watch-abort.ts"
import type { BlockResult, LimitHit, Termination } from "../code-result.ts"
import { OutputCollector } from "../output-collector.ts"
import type { PlannedBlock } from "./plan-blocks.ts"
import type { CollectLimits, RunEnd, SandboxAgent } from "./sandbox-agent.ts"

// A kill takes the agent a few milliseconds; one that does not answer by then is not alive.
const KILL_GRACE_MS = 1_000
// Output beyond what is kept costs only time, up to this many times the limit.
const FLOOD_FACTOR = 256
const LEAST_OUTPUT = 1024

export interface BlockRunOptions {
  readonly agent: SandboxAgent
  readonly block: PlannedBlock
  readonly limits: PolicyFields["limits"]
  /** How much of the call's output is left for this block. */
  readonly outputBudget: number
  readonly how: "exec" | "fork"
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Buffer) => void
  readonly signal: AbortSignal
  /** What will be collected when the block is over. */
  readonly thenCollect?: CollectLimits | undefined
}

export interface BlockRunEnd {
  readonly result: BlockResult
  /** Whether the agent is still there for more. */
  readonly isAlive: boolean
  /** Set when the sandbox was lost; the result is then that of a lack of memory, if it was that. */
  readonly lost?: Error | undefined
}

// Some have two names, of which the first is the known one.
const SIGNAL_NAMES = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number, name] as const)
    .toReversed(),
)

/** Runs one block to its end, whatever that is; rejects when it was cancelled, or the sandbox misbehaved. */
export async function runBlock(options: BlockRunOptions): Promise<BlockRunEnd> {
  const { agent, block, limits, signal } = options
  signal.throwIfAborted()
  const collector = new OutputCollector(Math.max(LEAST_OUTPUT, options.outputBudget))
  const flood = limits.output * FLOOD_FACTOR
  let bytes = 0
  let ended: "timeout" | "output-limit" | undefined
  let lost: Error | undefined
  let grace: NodeJS.Timeout | undefined
  const startedAt = performance.now()
  const end = await new Promise<RunEnd | undefined>((resolve, reject) => {
    const stopBlock = (why: "timeout" | "output-limit"): void => {
      if (ended) return
      ended = why
      agent.resume()
      agent.kill()
      grace = setTimeout(() => resolve(undefined), agent.killGraceMs ?? KILL_GRACE_MS)
    }
    const timer = setTimeout(() => stopBlock("timeout"), limits.wall)
    const unwatch = watchAbort(signal, (reason) => {
      agent.resume()
      agent.kill()
      reject(reason)
    })
    const onOutput = (stream: "stdout" | "stderr", chunk: Buffer): void => {
      bytes += chunk.length
      collector.push({ stream, bytes: chunk })
      if (!ended) options.onOutput(stream, chunk)
      if (bytes > flood) stopBlock("output-limit")
    }
    const onFailure = (error: Error): void => {
      if (!GloveboxError.is(error, "SANDBOX_LOST")) return reject(error)
      lost = error
      resolve(undefined)
    }
    agent
      .run({ argv: block.argv, how: options.how, onOutput, thenCollect: options.thenCollect })
      .then(resolve, onFailure)
      .finally(() => {
        clearTimeout(timer)
        clearTimeout(grace)
        unwatch()
      })
  })
  const collected = collector.result()
  const limitsHit = hits(end, ended, collected.truncated)
  const isLost = lost !== undefined && ended === undefined
  return {
    isAlive: end !== undefined,
    lost: isLost ? lost : undefined,
    result: {
      language: block.tag,
      codeFile: block.file,
      ...howItEnded(end, ended),
      ...(isLost ? { termination: "oom" as const } : {}),
      limitsHit: isLost ? ["memory", ...limitsHit] : limitsHit,
      output: collected.output,
      stdout: collected.stdout,
      stderr: collected.stderr,
      truncated: collected.truncated,
      durationMs: performance.now() - startedAt,
    },
  }
}

function hits(end: RunEnd | undefined, ended: string | undefined, truncated: boolean): LimitHit[] {
  return [
    ...(ended === "timeout" ? (["wall"] as const) : []),
    ...(end?.limits ?? []),
    ...(truncated ? (["output"] as const) : []),
  ]
}

function howItEnded(
  end: RunEnd | undefined,
  ended: "timeout" | "output-limit" | undefined,
): Pick<BlockResult, "exitCode" | "signal" | "termination"> {
  if (ended === "timeout") return { exitCode: 124, termination: "timeout" }
  const number = end?.signal ?? (end === undefined ? constants.signals.SIGKILL : undefined)
  const signal = number === undefined ? undefined : (SIGNAL_NAMES.get(number) ?? `SIG${number}`)
  const exitCode = number === undefined ? (end?.code ?? 1) : 128 + number
  return { exitCode, ...(signal ? { signal } : {}), termination: ended ?? cause(end, exitCode, signal) }
}

// A limit is the cause only of a failure: a program may run into one and cope.
function cause(end: RunEnd | undefined, exitCode: number, signal: string | undefined): Termination {
  if (exitCode !== 0 && end) {
    if (end.limits.includes("memory")) return "oom"
    if (end.limits.includes("pids")) return "process-limit"
    if (end.limits.includes("workspace")) return "disk-full"
  }
  return signal ? "signal" : "exit"
}
