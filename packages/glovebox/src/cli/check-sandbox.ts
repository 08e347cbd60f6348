import {
  DockerCommandLineCodeExecutor,
  type DockerCommandLineCodeExecutorOptions,
} from "../executors/docker/index.ts"
import type { CodeResult } from "../executors/index.ts"
import { errorMessage } from "../internal/error-message.ts"
import { formatBytes } from "../policy/index.ts"
import type { HealthCheck } from "./health-check.ts"

/** Runs a block behind the deny-all policy, in a cold container and in one that is ready, and reads the wall. */
export async function checkSandbox(
  options: DockerCommandLineCodeExecutorOptions,
  signal: AbortSignal,
): Promise<HealthCheck[]> {
  try {
    const cold = await runOne({ ...options, pool: false }, signal)
    const pooled = await runOne({ ...options, pool: { size: 1 } }, signal)
    const { effective, runtime } = cold.sandbox
    return [
      {
        name: "docker",
        status: "ok",
        seen: `code runs: ${Math.round(cold.durationMs)} ms in a cold container, ${Math.round(pooled.durationMs)} ms in one from the pool`,
        details: { coldMs: cold.durationMs, pooledMs: pooled.durationMs, runtime },
      },
      {
        name: "limits",
        status: "ok",
        seen: `read back from the container: ${describeWall(effective)}`,
        details: { effective },
      },
    ]
  } catch (error) {
    signal.throwIfAborted()
    return [{ name: "docker", status: "fail", seen: errorMessage(error) }]
  }
}

async function runOne(
  options: DockerCommandLineCodeExecutorOptions,
  signal: AbortSignal,
): Promise<CodeResult> {
  await using executor = new DockerCommandLineCodeExecutor({
    ...options,
    timeout: "30s",
    carry: false,
    pull: "never",
  })
  await executor.start({ signal })
  // Every image that can be used at all has a shell.
  const result = await executor.executeCodeBlocks([{ language: "sh", code: "echo glovebox" }], { signal })
  if (result.stdout === "glovebox\n" && result.exitCode === 0) return result
  throw new Error(`A block that says "glovebox" ended with ${result.exitCode} and said: ${result.output}`)
}

/** The settings that were read back, in words. */
export function describeWall(effective: Readonly<Record<string, unknown>>): string {
  const { user, network, readOnlyRoot, capabilities, noNewPrivileges, memory, cpus, pids } = effective
  const granted = Array.isArray(capabilities) ? capabilities : []
  const parts = [
    `user ${String(user)}`,
    `network ${String(network)}`,
    readOnlyRoot === true ? "read-only root" : "writable root",
    granted.length === 0 ? "no capabilities" : `capabilities ${granted.join(" ")}`,
    ...(noNewPrivileges === true ? ["no new privileges"] : []),
    ...(kernelOf(effective)["Seccomp"] === "2" ? ["seccomp"] : []),
    `memory ${formatBytes(Number(memory))}`,
    `${Number(cpus)} cpu`,
    `${Number(pids)} processes`,
  ]
  return parts.join(", ")
}

function kernelOf({ kernel }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return typeof kernel === "object" && kernel !== null ? (kernel as Record<string, unknown>) : {}
}
