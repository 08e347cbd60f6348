import { GloveboxError } from "../../core/index.ts"
import { watchAbort } from "../../internal/watch-abort.ts"
import type { PolicyFields, Tier } from "../../policy/index.ts"
import {
  type InsideRequest,
  type Probe,
  type ProbeContext,
  type SandboxPath,
  insideProgram,
  insideRequest,
  probesFor,
} from "../../probes/index.ts"
import type { SandboxLauncher } from "./sandbox-launcher.ts"
import type { Sandbox } from "./sandbox.ts"

const LIMIT_MS = 30_000
const MOST_OUTPUT = 1024 ** 2

export interface ClaimOptions {
  readonly sandbox: Sandbox
  readonly launcher: SandboxLauncher
  readonly policy: PolicyFields
  readonly path: SandboxPath
  readonly signal: AbortSignal
}

/** Attacks a sandbox from within before code gets it; refuses one in which something is not as its policy promises. */
export async function claimSandbox(options: ClaimOptions): Promise<void> {
  const { launcher, policy, path } = options
  const facts = launcher.probeFacts?.()
  if (!facts || !options.sandbox.agent.programs["python3"]) {
    throw new GloveboxError(
      "OPTION_INVALID",
      `verify: "claim" needs python3 in the sandbox, and this ${launcher.kind} sandbox has none. Leave it out, or use an image with Python.`,
    )
  }
  const context: ProbeContext = {
    policy,
    facts: { ...facts, tier: launcher.kind as Tier, path },
  }
  const probes = probesFor(context).filter(isForClaims)
  const requests = probes.map((probe) => requestOf(probe, context))
  // In one process, for speed, where none can get far enough to spoil another: else the sandbox is refused, and rightly.
  const isApart = facts.hasOwnKernel || policy.seccomp !== "strict"
  const { code, read } = await insideProgram(requests, { isApart })
  const found = read(await runIn(options, code), "it was not answered")
  const wrong = probes.flatMap(({ id, expects }) => {
    const { observed, evidence } = found.get(id) ?? { observed: "ERROR", evidence: "" }
    return observed === expects(context) ? [] : [`${id} is ${observed} (${evidence})`]
  })
  if (wrong.length === 0) return
  throw new GloveboxError(
    "SANDBOX_NOT_AS_PROMISED",
    `The sandbox is not what its policy promises, so nothing runs in it: ${wrong.join("; ")}. It was ended; the next call gets another. glovebox verify tells more.`,
  )
}

function isForClaims({ how, isQuick }: Probe): boolean {
  return how.kind === "inside" && isQuick && how.isGentle && !how.isAlone && !how.watch
}

function requestOf({ id, how }: Probe, context: ProbeContext): InsideRequest {
  if (how.kind !== "inside") throw new Error(`${id} does not run inside a sandbox.`)
  return insideRequest(id, how, context)
}

// As an argument, so that no file is left; isolated, so that no file of a mounted workspace is imported.
async function runIn({ sandbox, signal }: ClaimOptions, code: string): Promise<string> {
  const { agent } = sandbox
  const chunks: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(() => agent.kill(), LIMIT_MS)
  const unwatch = watchAbort(signal, () => agent.kill())
  try {
    await agent.run({
      argv: ["python3", "-I", "-c", code],
      how: "exec",
      onOutput: (stream, chunk) => {
        bytes += chunk.length
        if (stream === "stdout" && bytes <= MOST_OUTPUT) chunks.push(chunk)
      },
    })
  } finally {
    clearTimeout(timer)
    unwatch()
  }
  signal.throwIfAborted()
  return Buffer.concat(chunks).toString("utf8")
}
