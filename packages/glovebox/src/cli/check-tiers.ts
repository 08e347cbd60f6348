import { GloveboxError } from "../core/index.ts"
import { TIER_NOTES } from "../executors/factory/tier-notes.ts"
import { probeTier } from "../executors/factory/probe-tier.ts"
import { type CreateExecutorOptions, createExecutor } from "../executors/index.ts"
import { errorMessage } from "../internal/error-message.ts"
import { SandboxPolicy, type Tier } from "../policy/index.ts"
import type { HealthCheck } from "./health-check.ts"

export interface CheckTierOptions {
  readonly dockerHost?: string | undefined
  readonly dockerContext?: string | undefined
  /** For jupyter. @default its own */
  readonly image?: string | undefined
  /** Whether the user means this kind, so that it has to work. */
  readonly isAsked: boolean
  readonly signal: AbortSignal
}

/** Runs a line of Python in a kind of sandbox, or says what to do so that it can run. */
export async function checkTier(tier: Tier, options: CheckTierOptions): Promise<HealthCheck> {
  const { isAsked, signal } = options
  const bad = isAsked ? "fail" : "off"
  const { dockerHost, dockerContext, image } = options
  const probe = await probeTier(tier, {
    dockerHost,
    dockerContext,
    image: new SandboxPolicy().fields.image,
    jupyterImage: image,
    pull: "never",
    signal,
  })
  if (!probe.isAvailable) return { name: tier, status: bad, seen: probe.detail, remedy: probe.remedy }
  const engine = tier === "jupyter" ? { dockerHost, dockerContext, image } : {}
  const once = { wasm: { pool: false }, bubblewrap: { pool: false } } as const
  try {
    const ms = await timeToRun({ sandbox: tier, timeout: "30s", carry: false, ...engine, ...once }, signal)
    const seen = `code runs: ${Math.round(ms)} ms from nothing to the end of a line of Python (${TIER_NOTES[tier].what})`
    return { name: tier, status: "ok", seen, details: { ms } }
  } catch (error) {
    signal.throwIfAborted()
    if (!GloveboxError.is(error)) throw error
    return { name: tier, status: bad, seen: errorMessage(error) }
  }
}

/** The host is no sandbox: nothing to try, only to tell. */
export function checkHost(): HealthCheck {
  return {
    name: "local",
    status: "off",
    seen: "no sandbox: code would run on this machine itself, so it is never chosen",
    remedy: "for code that you trust as your own: --sandbox local --dangerously-run-on-host",
  }
}

async function timeToRun(options: CreateExecutorOptions, signal: AbortSignal): Promise<number> {
  const startedAt = performance.now()
  await using executor = await createExecutor({ ...options, signal })
  const blocks = [{ language: "python", code: "print('glovebox')" }]
  const { stdout, exitCode, output } = await executor.executeCodeBlocks(blocks, { signal })
  if (stdout === "glovebox\n" && exitCode === 0) return performance.now() - startedAt
  throw new GloveboxError(
    "SANDBOX_BROKEN",
    `A block that says "glovebox" ended with ${exitCode} and said: ${output}`,
  )
}
