import { randomUUID } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { CallToolResult } from "@modelcontextprotocol/server"
import { GloveboxError } from "../../core/index.ts"
import type { CodeBlock, CodeExecutor, CodeResult, OutputEvent } from "../../executors/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { formatDuration, type SandboxPolicy } from "../../policy/index.ts"
import { WorkspaceFiles } from "./workspace-files.ts"

/** An executor whose policy is known. */
export type SessionExecutor = CodeExecutor & { readonly policy: SandboxPolicy }

/** What a call comes to. */
export type SessionResult = CallToolResult

export interface SessionInfo {
  /** Of this session alone; its caller does not know it. */
  readonly id: string
  /** As the caller names itself, which proves nothing. */
  readonly caller: string | undefined
}

export interface SessionCall {
  readonly session: SessionInfo
  readonly tool: string
  readonly arguments: unknown
  readonly signal: AbortSignal
}

export interface SandboxSessionOptions {
  /** Makes the executor of a session, whose files are in this folder. */
  readonly openExecutor: (at: {
    readonly workDir: string
    readonly session: SessionInfo
  }) => Promise<SessionExecutor>
  /** Stands around each call of a tool: what it gives is what the caller gets. @default the call alone */
  readonly onCall?:
    | ((call: SessionCall, work: () => Promise<SessionResult>) => Promise<SessionResult>)
    | undefined
  /** Told of the end of a session that was called, when nothing of it runs any more. */
  readonly onEnd?: ((session: SessionInfo) => Promise<void>) | undefined
  /** A folder that outlives the session, and that all sessions share. @default one of its own, removed at its end */
  readonly workDir?: string | undefined
  /** After how long without a call a session ends; Infinity for never. @default 1800000 */
  readonly idleMs?: number | undefined
}

interface Open {
  readonly executor: SessionExecutor
  readonly files: WorkspaceFiles
  readonly close: () => Promise<void>
}

const DEFAULT_IDLE_MS = 30 * 60_000

/** A caller's sandbox and its files: made by the first call, and ended when none has come for a while. */
export class SandboxSession implements AsyncDisposable {
  readonly #options: SandboxSessionOptions
  readonly #idleMs: number
  readonly #id = randomUUID()
  readonly #ended = new AbortController()
  readonly #running = new Set<Promise<unknown>>()
  #caller: string | undefined
  #wasCalled = false
  #ending: Promise<void> | undefined
  #open: Promise<Open> | undefined
  #calls = 0
  #timer: NodeJS.Timeout | undefined
  #hasExpired = false
  #closing = Promise.resolve()

  constructor(options: SandboxSessionOptions) {
    this.#options = options
    this.#idleMs = options.idleMs ?? DEFAULT_IDLE_MS
  }

  /** Whether a call is on. */
  get isBusy(): boolean {
    return this.#calls > 0
  }

  get #info(): SessionInfo {
    return { id: this.#id, caller: this.#caller }
  }

  /** A call of a tool, which ends with the session at the latest. */
  async call(
    {
      caller,
      signal: given,
      ...call
    }: Omit<SessionCall, "session"> & { readonly caller: string | undefined },
    work: (signal: AbortSignal) => Promise<SessionResult>,
  ): Promise<SessionResult> {
    const signal = AbortSignal.any([given, this.#ended.signal])
    signal.throwIfAborted()
    this.#caller ??= caller
    this.#wasCalled = true
    const { onCall = async (_, alone) => alone() } = this.#options
    const running = onCall({ ...call, session: this.#info, signal }, async () => work(signal))
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** Runs code; what it prints is told while it runs. */
  async run(
    block: CodeBlock,
    { signal, onOutput }: { readonly signal: AbortSignal; readonly onOutput: (event: OutputEvent) => void },
  ): Promise<{ readonly result: CodeResult; readonly policy: SandboxPolicy }> {
    return this.#use(signal, async ({ executor }) => ({
      result: await executor.executeCodeBlocks([block], { signal, onOutput }),
      policy: executor.policy,
    }))
  }

  async withFiles<T>(signal: AbortSignal, use: (files: WorkspaceFiles) => Promise<T>): Promise<T> {
    return this.#use(signal, async ({ files }) => abortable(use(files), signal))
  }

  /** What the caller has to be told once: that the files of before are gone. */
  takeNotice(): string | undefined {
    if (!this.#hasExpired) return undefined
    this.#hasExpired = false
    const kept = this.#options.workDir !== undefined
    return `No call came for ${formatDuration(this.#idleMs)}, so the sandbox was ended and a new one made.${kept ? "" : " Files of before are gone."}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending ??= this.#end()
    await this.#ending
  }

  async #end(): Promise<void> {
    this.#ended.abort(ended())
    await this.#close()
    await Promise.allSettled(this.#running)
    if (this.#wasCalled) await this.#options.onEnd?.(this.#info)
  }

  async #use<T>(signal: AbortSignal, use: (open: Open) => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    this.#calls += 1
    clearTimeout(this.#timer)
    try {
      // The folder of the one before is removed first.
      await abortable(this.#closing, signal)
      if (this.#ended.signal.aborted) throw ended()
      this.#open ??= this.#make().catch((error: unknown) => {
        this.#open = undefined
        throw error
      })
      return await use(await abortable(this.#open, signal))
    } finally {
      this.#calls -= 1
      this.#watch()
    }
  }

  #watch(): void {
    if (this.#calls > 0 || this.#ended.signal.aborted || !this.#open || !Number.isFinite(this.#idleMs)) return
    this.#timer = setTimeout(() => {
      this.#hasExpired = true
      void this.#close()
    }, this.#idleMs)
    this.#timer.unref()
  }

  async #make(): Promise<Open> {
    const { openExecutor, workDir } = this.#options
    const folder = workDir ?? (await mkdtemp(join(tmpdir(), "glovebox-session-")))
    const remove = async (): Promise<void> => {
      if (workDir === undefined) await rm(folder, { recursive: true, force: true })
    }
    try {
      const executor = await openExecutor({ workDir: folder, session: this.#info })
      const close = async (): Promise<void> => {
        try {
          await executor.stop()
        } finally {
          await remove()
        }
      }
      return { executor, files: new WorkspaceFiles(folder, executor.policy), close }
    } catch (error) {
      await remove()
      throw error
    }
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer)
    const open = this.#open
    this.#open = undefined
    const before = this.#closing
    this.#closing = (async () => {
      await before
      // A sandbox that was not made needs no end.
      const made = await open?.catch(() => undefined)
      await made?.close().catch(() => {})
    })()
    await this.#closing
  }
}

function ended(): GloveboxError {
  return new GloveboxError("EXECUTOR_STOPPED", "The session has ended.")
}
