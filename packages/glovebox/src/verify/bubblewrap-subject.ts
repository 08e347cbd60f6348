import { readFile } from "node:fs/promises"
import { release } from "node:os"
import { BubblewrapCodeExecutor } from "../executors/bubblewrap/index.ts"
import type { CodeExecutor } from "../executors/code-executor.ts"
import type { EgressLookup } from "../egress/index.ts"
import { egressVariables } from "../executors/sandbox/sandbox-egress.ts"
import { TUNNEL_PORT } from "../executors/sandbox/tunnel.ts"
import { type PolicyInput, SandboxPolicy, allowListOf } from "../policy/index.ts"
import type { ProbeFacts, SandboxPath } from "../probes/index.ts"
import type { Subject, SubjectDescription, SubjectSettings } from "./subject.ts"

export interface BubblewrapSubjectOptions {
  readonly path: SandboxPath
  readonly egress?: { readonly lookup?: EgressLookup | undefined } | undefined
}

const AT_ONCE = 4

/** Namespaces that bubblewrap makes, on this machine's own kernel. */
export class BubblewrapSubject implements Subject {
  readonly tier = "bubblewrap"
  readonly nameServers: readonly string[] = []
  readonly #options: BubblewrapSubjectOptions

  constructor(options: BubblewrapSubjectOptions) {
    this.#options = options
  }

  async prepare(input: PolicyInput): Promise<{ readonly facts: ProbeFacts } & SubjectDescription> {
    const { fields } = new SandboxPolicy(input)
    const hasTunnel = allowListOf(fields.network) !== undefined
    const version = await readFile("/proc/version", "utf8").catch(() => "")
    return {
      facts: {
        tier: this.tier,
        path: this.#options.path,
        hasOwnKernel: false,
        knownEnv: ["LANG", ...egressVariables(fields)],
        imageVolumes: [],
        hostKernel: release(),
        proxyPort: hasTunnel ? TUNNEL_PORT : undefined,
        isLocal: true,
      },
      kernel: version.split(" ")[2] ?? release(),
      engine: undefined,
      runtime: undefined,
      imageDigest: undefined,
    }
  }

  open({ policy, isSession, workDir, pool }: SubjectSettings): CodeExecutor {
    const session = isSession || this.#options.path === "session"
    return new BubblewrapCodeExecutor({
      policy,
      isolation: session ? "session" : "run",
      pool: this.#options.path === "pooled" ? { size: pool } : false,
      concurrency: AT_ONCE,
      ...(workDir === undefined ? {} : { workDir }),
      ...(this.#options.egress === undefined ? {} : { egress: this.#options.egress }),
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
