import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { randomBytes } from "node:crypto"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import type { CodeExecutor } from "../executors/code-executor.ts"
import type { CodeResult } from "../executors/code-result.ts"
import type { PolicyInput } from "../policy/index.ts"
import {
  type Finding,
  type InsideRequest,
  type Lab,
  type LabOptions,
  type LabSandboxes,
  type ProbeContext,
  type Weakening,
  failed,
  insideProgram,
} from "../probes/index.ts"
import { isProcess, processNamed, processesWith } from "./host-processes.ts"
import { listenAbstractly, listenEverywhere, listenForNames } from "./listeners.ts"
import { runOutside } from "./run-outside.ts"
import type { Subject, SubjectSettings } from "./subject.ts"

const LEAST_WALL_MS = 60_000
const LEAST_OUTPUT = 256 * 1024
const TRIES_FOR_POOLED = 3
const SHARED_POOL = 2

export interface WorkbenchOptions {
  readonly subject: Subject
  readonly policy: PolicyInput
  readonly context: ProbeContext
  readonly weakenings: readonly Weakening[]
  /** Whether what is done is to be shown to work. */
  readonly isControl: boolean
  readonly signal: AbortSignal
  /** Called with what the first run tells of its sandbox. */
  readonly onRun?: ((result: CodeResult) => void) | undefined
}

/** Sandboxes of one making, and all that probes need beside them. */
export class Workbench implements AsyncDisposable {
  readonly #options: WorkbenchOptions
  readonly #token = randomBytes(12).toString("hex")
  readonly #folder: string
  readonly #open = new Set<CodeExecutor>()
  readonly #shared: CodeExecutor

  private constructor(options: WorkbenchOptions, folder: string) {
    this.#options = options
    this.#folder = folder
    this.#shared = this.#make({}, true)
  }

  static async set(options: WorkbenchOptions): Promise<Workbench> {
    const folder = await mkdtemp(join(tmpdir(), `glovebox-verify-${process.pid}-`))
    const bench = new Workbench(options, folder)
    // Whoever the sandbox runs as: it holds nothing but a word.
    await chmod(folder, 0o755)
    await writeFile(join(folder, "secret"), bench.#token, { mode: 0o644 })
    return bench
  }

  /** Makes attacks, one after the other, in one sandbox. */
  async attack(
    requests: readonly InsideRequest[],
    limits?: PolicyInput["limits"],
  ): Promise<ReadonlyMap<string, Finding>> {
    if (limits === undefined) return this.#attackIn(this.#shared, requests)
    await using executor = this.#make({ limits }, true)
    return await this.#attackIn(executor, requests)
  }

  /** What a probe that looks from outside works with. */
  lab(): Lab {
    const { context, isControl, signal, subject } = this.#options
    // Each its own: others look for theirs at the same time.
    const token = randomBytes(12).toString("hex")
    return {
      ...context,
      signal,
      isControl,
      token,
      sandboxes: this.#sandboxes(this.#shared),
      open: (options) => this.#sandboxes(this.#make(options, false)),
      listen: async () => listenEverywhere(token),
      listenDns: async () => listenForNames(subject.nameServers),
      listenAbstract: listenAbstractly,
      canary: { folder: this.#folder, file: join(this.#folder, "secret"), secret: this.#token },
      hostProcess: async () => processNamed(token),
      processesWith,
      keptLog: async (id) => subject.keptLog(id),
      hasContainer: async (id) => subject.hasContainer(id),
      isProcess,
      runOutside: async (language, code) => runOutside(language, code, signal),
      abandon: async () => subject.abandon?.(this.#settings({}, false), signal),
      memory: () => process.memoryUsage.rss(),
      hostName: hostname(),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open].map(async (executor) => executor.stop()))
    await rm(this.#folder, { recursive: true, force: true })
  }

  #make(options: LabOptions, isForAttacks: boolean): CodeExecutor {
    const executor = this.#options.subject.open(this.#settings(options, isForAttacks))
    this.#open.add(executor)
    return executor
  }

  #settings(options: LabOptions, isForAttacks: boolean): SubjectSettings {
    return {
      policy: this.#policy(options, isForAttacks),
      isSession: options.isolation === "session",
      pool: isForAttacks ? SHARED_POOL : 1,
      workDir: options.workDir,
      weakenings: options.isPlain === true ? [] : this.#options.weakenings,
      token: this.#token,
      folder: this.#folder,
    }
  }

  // Findings have to get out whatever the policy keeps of output, and probes have times of their own.
  #policy({ limits, allowPrivate = [] }: LabOptions, isForAttacks: boolean): PolicyInput {
    const { policy, context } = this.#options
    const { wall, output } = context.policy.limits
    const { network } = context.policy
    const widened =
      allowPrivate.length > 0 && typeof network === "object" && "allow" in network
        ? { ...network, allowPrivate: [...(network.allowPrivate ?? []), ...allowPrivate] }
        : policy.network
    return {
      ...policy,
      network: widened,
      limits: {
        ...policy.limits,
        wall: Math.max(wall, LEAST_WALL_MS),
        ...(isForAttacks ? { output: Math.max(output, LEAST_OUTPUT) } : {}),
        ...limits,
      },
    }
  }

  #sandboxes(executor: CodeExecutor): LabSandboxes {
    const { signal } = this.#options
    return {
      run: async (code, options = {}) => {
        const ended = options.signal ? AbortSignal.any([signal, options.signal]) : signal
        return this.#run(executor, code, ended, options.language)
      },
      attack: async (attack, given, seconds = 30) => {
        const found = await this.#attackIn(executor, [{ id: attack, attack, given, seconds }])
        return found.get(attack) ?? failed("it was not answered")
      },
      [Symbol.asyncDispose]: async () => {
        this.#open.delete(executor)
        await executor.stop()
      },
    }
  }

  async #run(
    executor: CodeExecutor,
    code: string,
    signal: AbortSignal,
    language = "python",
  ): Promise<CodeResult> {
    const result = await executor.executeCodeBlocks([{ language, code }], { signal })
    this.#options.onRun?.(result)
    return result
  }

  // A pool that is being filled hands out new ones; by the next run it has some.
  async #runOnPath(executor: CodeExecutor, code: string): Promise<CodeResult> {
    const { context, signal } = this.#options
    const tries = context.facts.path === "pooled" ? TRIES_FOR_POOLED : 1
    for (let turn = 1; ; turn += 1) {
      const result = await this.#run(executor, code, signal)
      if (result.sandbox.pooled === true || turn >= tries) return result
    }
  }

  async #attackIn(
    executor: CodeExecutor,
    requests: readonly InsideRequest[],
  ): Promise<ReadonlyMap<string, Finding>> {
    const program = await insideProgram(requests)
    const result = await this.#runOnPath(executor, program.code)
    const { stdout, stderr, termination, exitCode } = result
    if (requests.length === 1 && termination === "oom") {
      const [only] = requests
      const ended: Finding = { observed: "BLOCKED", evidence: "the sandbox was ended for want of memory" }
      const found = program.read(stdout, "").get(only!.id)
      return new Map([[only!.id, found && found.evidence !== "" ? found : ended]])
    }
    const said = stderr.trim().split("\n").at(-1) ?? ""
    return program.read(stdout, `the probes ended with ${exitCode} (${termination}) ${said}`)
  }
}
