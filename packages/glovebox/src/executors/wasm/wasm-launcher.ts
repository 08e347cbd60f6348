import { once } from "node:events"
import type { Socket } from "node:net"
import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type { Language } from "../languages.ts"
import type { Facts } from "../sandbox/agent-answers.ts"
import { encodeJsonFrame } from "../sandbox/agent-frames.ts"
import { FramedAgent } from "../sandbox/framed-agent.ts"
import { type PipedProcess, processChannel } from "../sandbox/process-channel.ts"
import type { SandboxLauncher } from "../sandbox/sandbox-launcher.ts"
import type { Sandbox } from "../sandbox/sandbox.ts"
import { startProcess } from "../sandbox/start-process.ts"
import { type NodeCommand, nodeCommand } from "./node-command.ts"
import { preparedAgent } from "./prepared-agent.ts"
import type { WasmOptions } from "./wasm-options.ts"

const BOOT_LIMIT_MS = 60_000
// What V8 says before it gives up.
const OUT_OF_MEMORY = /heap out of memory|Out of memory/i
const SAID_KEPT = 8192
const WALLS = [
  "memoryAboveLimit",
  "codeFromStrings",
  "hostFiles",
  "hostWrites",
  "hostProcesses",
  "hostEnvironment",
]

/** Starts processes that hold interpreters in WebAssembly. */
export class WasmLauncher implements SandboxLauncher {
  readonly kind = "wasm"
  readonly #command: NodeCommand
  readonly #isolation: WasmOptions["isolation"]
  readonly #children = new Map<string, WasmProcess>()

  constructor(options: WasmOptions) {
    this.#isolation = options.isolation
    this.#command = nodeCommand({
      policy: options.policy.fields,
      isolation: options.isolation,
      isWaiting: options.isolation === "session" || options.pool.size > 0,
      library: { name: options.functionsModule, source: options.library },
    })
  }

  async launch(signal?: AbortSignal): Promise<Sandbox> {
    signal?.throwIfAborted()
    const started = new WasmProcess(this.#command)
    const destroy = async (): Promise<void> => {
      await started.end()
      this.#children.delete(started.id)
    }
    this.#children.set(started.id, started)
    try {
      const agent = await abortable(started.greet(), signal)
      const seen = agent.facts as Facts
      checkWalls(seen)
      const facts = { effective: { ...effective(seen, this.#command), processId: started.pid } }
      return {
        id: started.id,
        agent: preparedAgent(agent, this.#isolation),
        facts,
        destroy,
        [Symbol.asyncDispose]: destroy,
      }
    } catch (error) {
      await destroy()
      throw error
    }
  }

  async ranOutOfMemory({ id }: Sandbox): Promise<boolean> {
    return this.#children.get(id)?.ranOutOfMemory() ?? false
  }

  missingProgram(program: string, language: Language): GloveboxError {
    return new GloveboxError(
      "LANGUAGE_UNAVAILABLE",
      `The embedded sandbox has no ${program}, which runs ${language.name}: it runs python, javascript and typescript. The docker and bubblewrap executors have ${language.install}.`,
    )
  }

  async close(): Promise<void> {
    await Promise.all([...this.#children.values()].map(async (child) => child.end()))
    this.#children.clear()
  }
}

class WasmProcess {
  readonly #child: PipedProcess
  readonly #exit: Promise<unknown>
  #said = ""
  #ending: Promise<void> | undefined

  constructor({ args, config, folder }: NodeCommand) {
    // In a group of its own: an interrupt at the terminal is this process's to handle.
    this.#child = startProcess(process.execPath, args, {
      cwd: folder,
      env: {},
      stdio: "pipe",
      detached: true,
    }) as PipedProcess
    this.#child.stdin.write(encodeJsonFrame("I", config))
    this.#exit = once(this.#child, "close").catch(() => {})
    this.#child.stderr.on("data", (chunk: Buffer) => {
      this.#said = (this.#said + chunk.toString("utf8")).slice(-SAID_KEPT)
    })
  }

  get id(): string {
    return `wasm-${this.#child.pid ?? "none"}`
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  async greet(): Promise<FramedAgent> {
    const channel = processChannel(this.#child)
    const timer = setTimeout(() => channel.close(), BOOT_LIMIT_MS)
    try {
      return await FramedAgent.greet(channel)
    } catch (cause) {
      throw new GloveboxError(
        "SANDBOX_SETUP_FAILED",
        `The embedded sandbox did not start: ${errorMessage(cause)}`,
        { cause },
      )
    } finally {
      clearTimeout(timer)
    }
  }

  /** Whether V8 gave up for want of memory: of its own, as a guest's has a bound that the guest can see. */
  async ranOutOfMemory(): Promise<boolean> {
    await this.#exit
    return OUT_OF_MEMORY.test(this.#said)
  }

  async end(): Promise<void> {
    this.#ending ??= (async () => {
      // Idle, it keeps nobody; who waits for its end is to be kept.
      const { stdin, stdout, stderr } = this.#child
      for (const one of [this.#child, stdin, stdout, stderr] as Partial<Pick<Socket, "ref">>[]) one.ref?.()
      this.#child.kill("SIGKILL")
      await this.#exit
    })()
    await this.#ending
  }
}

// The agent has tried each of them from within.
function checkWalls({ status }: Facts): void {
  const open = WALLS.filter((wall) => status[wall] !== "denied")
  if (open.length === 0) return
  throw new GloveboxError(
    "SANDBOX_UNENFORCEABLE",
    `The embedded sandbox's process is not confined as it should be under Node ${process.version}: ${open.join(", ")}. Use Node 20.19 or later, started without NODE_OPTIONS of its own.`,
  )
}

function effective(facts: Facts, { memoryBytes, workspaceBytes }: NodeCommand): Record<string, unknown> {
  return {
    boundary: "wasm, in a process of its own",
    python: facts.python,
    ...facts.status,
    memory: { bytes: memoryBytes, by: "pages of WebAssembly memory" },
    workspace: { bytes: workspaceBytes, files: facts.workspace.files, by: "file system in memory" },
    network: "none: no sockets",
    processes: "none: no threads, no processes",
    environment: "the policy's only",
  }
}
