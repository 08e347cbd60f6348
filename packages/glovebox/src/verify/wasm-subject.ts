import { release } from "node:os"
import type { CodeExecutor } from "../executors/code-executor.ts"
import { WasmCodeExecutor } from "../executors/wasm/index.ts"
import type { PolicyInput } from "../policy/index.ts"
import type { ProbeFacts, SandboxPath } from "../probes/index.ts"
import type { Subject, SubjectDescription, SubjectSettings } from "./subject.ts"

export interface WasmSubjectOptions {
  readonly path: SandboxPath
}

const AT_ONCE = 4

/** Interpreters in WebAssembly, in processes of this machine. */
export class WasmSubject implements Subject {
  readonly tier = "wasm"
  readonly nameServers: readonly string[] = []
  readonly #options: WasmSubjectOptions

  constructor(options: WasmSubjectOptions) {
    this.#options = options
  }

  async prepare(
    policy: PolicyInput,
    signal: AbortSignal,
  ): Promise<{ readonly facts: ProbeFacts } & SubjectDescription> {
    // Refuses what cannot be enforced.
    const settings = { isSession: false, pool: 0, weakenings: [], token: "", folder: "" }
    await using probing = this.open({ ...settings, policy })
    await probing.start({ signal })
    return {
      facts: {
        tier: this.tier,
        path: this.#options.path,
        hasOwnKernel: false,
        knownEnv: [],
        imageVolumes: [],
        hostKernel: release(),
        proxyPort: undefined,
        isLocal: true,
      },
      kernel: release(),
      engine: undefined,
      runtime: `Node ${process.version}`,
      imageDigest: undefined,
    }
  }

  open({ policy, isSession, pool, workDir }: SubjectSettings): CodeExecutor {
    const session = isSession || this.#options.path === "session"
    return new WasmCodeExecutor({
      policy,
      isolation: session ? "session" : "run",
      pool: this.#options.path === "pooled" ? { size: pool } : false,
      concurrency: AT_ONCE,
      ...(workDir === undefined ? {} : { workDir }),
    })
  }

  canWeaken(): boolean {
    return false
  }

  async keptLog(): Promise<undefined> {
    return undefined
  }

  async hasContainer(): Promise<undefined> {
    return undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
