import { mkdir, rmdir, writeFile } from "node:fs/promises"
import { userInfo } from "node:os"
import { join, resolve } from "node:path"
import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import type { CodeResult, SandboxReport } from "../code-result.ts"
import { functionsModule } from "../functions/functions-module.ts"
import { artifactsOf, codeResult, runCall } from "../sandbox/call.ts"
import type { PlannedBlock } from "../sandbox/plan-blocks.ts"
import type { ExecuteCall, RunningExecutor } from "../sandbox/running-executor.ts"
import { CodeFiles } from "./code-files.ts"
import { lookAtFolder } from "./folder-changes.ts"
import { Guard } from "../sandbox/guard.ts"
import { hostEnvironment } from "./host-environment.ts"
import { LocalAgent } from "./local-agent.ts"
import type { LocalOptions } from "./local-options.ts"
import { makeScratch } from "./make-scratch.ts"
import { prepareFunctions } from "./prepare-functions.ts"
import { removeFolder } from "./remove-folder.ts"
import { type ProgramSources, resolvePrograms } from "./resolve-programs.ts"

interface Place {
  /** A folder that only this user can read, for pipes and the functions. */
  readonly scratch: string
  readonly workDir: string
  readonly env: Readonly<Record<string, string>>
}

// A process that the kernel does not let die must not hold a call for ever.
const LONGEST_DEATH_MS = 2_000

/** Runs calls on this machine, from start to stop. */
export class LocalRunner implements RunningExecutor {
  readonly #options: LocalOptions
  readonly #place: Place
  readonly #guard: Guard
  readonly #codeFiles: CodeFiles
  readonly #calls = new Set<Promise<unknown>>()

  private constructor(options: LocalOptions, place: Place, guard: Guard) {
    this.#options = options
    this.#place = place
    this.#guard = guard
    this.#codeFiles = new CodeFiles(place.workDir)
  }

  static async start(options: LocalOptions, signal: AbortSignal): Promise<LocalRunner> {
    signal.throwIfAborted()
    const scratch = await makeScratch("glovebox-local-")
    const guard = await guardOf(scratch)
    const place = await makePlace(options, scratch).catch(async (error: unknown) => {
      await guard.close()
      await removeFolder(scratch)
      throw error
    })
    const runner = new LocalRunner(options, place, guard)
    try {
      signal.throwIfAborted()
      const { functions, virtualEnv } = options
      await prepareFunctions({
        functions,
        module: options.functionsModule,
        virtualEnv,
        env: place.env,
        scratch,
        guard,
        signal,
      })
      return runner
    } catch (error) {
      await runner.close()
      throw error
    }
  }

  async execute(call: ExecuteCall): Promise<CodeResult> {
    const running = this.#execute(call)
    this.#calls.add(running)
    try {
      return await running
    } finally {
      this.#calls.delete(running)
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#calls)
    await this.#guard.close()
    await removeFolder(this.#place.scratch)
  }

  async #execute(call: ExecuteCall): Promise<CodeResult> {
    const startedAt = performance.now()
    const { workDir, scratch, env } = this.#place
    const { carry, policy, virtualEnv, replaced } = this.#options
    const sources: ProgramSources = { env, virtualEnv, replaced }
    const blocks = await abortable(resolvePrograms(call.blocks, sources), call.signal)
    const except = virtualEnv ? [virtualEnv.envDir] : []
    const before = carry ? await abortable(lookAtFolder(workDir, except), call.signal) : undefined
    const agent = new LocalAgent({
      workDir,
      env,
      scratch,
      guard: this.#guard,
      codeFiles: this.#codeFiles,
      before,
      except,
    })
    if (call.flow) {
      call.flow.pause = () => agent.pause()
      call.flow.resume = () => agent.resume()
    }
    call.onEvent({ type: "started", blocks: blocks.length })
    try {
      const { limits } = policy.fields
      const end = await runCall({
        agent,
        limits,
        blocks,
        prefersReady: false,
        files: [],
        gone: [],
        onPut: () => {},
        carry,
        // They go when their changes have been seen.
        deletesCodeFiles: false,
        ranOutOfMemory: async () => false,
        onEvent: call.onEvent,
        signal: call.signal,
      })
      const artifacts = artifactsOf(end.changes, blocks)
      for (const artifact of artifacts) call.onEvent({ type: "artifact", artifact })
      const duration = performance.now() - startedAt
      const result = codeResult(end.blocks, artifacts, end.changes.over, this.#report(), duration)
      call.onEvent({ type: "finished", result })
      return result
    } finally {
      await this.#cleanUp(agent, blocks)
    }
  }

  // A call that was cancelled is over only when nothing of it runs.
  async #cleanUp(agent: LocalAgent, blocks: readonly PlannedBlock[]): Promise<void> {
    await abortable(agent.whenIdle(), AbortSignal.timeout(LONGEST_DEATH_MS)).catch(() => {})
    const named = new Set(blocks.filter((block) => block.named).map(({ file }) => file))
    const { cleanupTempFiles } = this.#options
    await this.#codeFiles.release(agent.paths, (path) => !cleanupTempFiles || named.has(path))
  }

  #report(): SandboxReport {
    const { policy, virtualEnv } = this.#options
    return {
      kind: "local",
      policySha256: policy.sha256,
      isolation: "session",
      effective: {
        isolation: "none: the code runs as this user, on this machine",
        user: userInfo().username,
        network: "host",
        workDir: this.#place.workDir,
        ...(virtualEnv ? { virtualEnv: virtualEnv.envDir } : {}),
        limits: { wall: policy.fields.limits.wall, output: policy.fields.limits.output },
      },
    }
  }
}

async function makePlace(options: LocalOptions, scratch: string): Promise<Place> {
  const { functions, virtualEnv, policy } = options
  const workDir = options.workDir === undefined ? join(scratch, "workspace") : resolve(options.workDir)
  const modules = functions.length === 0 ? undefined : join(scratch, "functions")
  const { env } = policy.fields
  const place = { scratch, workDir, env: hostEnvironment({ host: process.env, env, virtualEnv, modules }) }
  try {
    await mkdir(workDir, { recursive: true })
    if (modules === undefined) return place
    await mkdir(modules)
    await writeFile(join(modules, `${options.functionsModule}.py`), functionsModule(functions))
    return place
  } catch (cause) {
    throw new GloveboxError("WORKSPACE_FAILED", `${workDir} cannot be used as workDir.`, { cause })
  }
}

async function guardOf(scratch: string): Promise<Guard> {
  try {
    return new Guard({ folders: [scratch] })
  } catch (error) {
    // It is empty yet; to look into it takes a descriptor, which may be what is missing.
    await rmdir(scratch)
    throw error
  }
}
