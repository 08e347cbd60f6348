import { abortable } from "../../internal/abortable.ts"
import { OutputCollector } from "../output-collector.ts"
import type { Guard } from "../sandbox/guard.ts"
import { HostProcess } from "./host-process.ts"

export interface SetupProcessOptions {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly scratch: string
  readonly guard: Guard
  readonly signal: AbortSignal | undefined
}

export interface SetupEnd {
  readonly isOk: boolean
  /** The end of what it said. */
  readonly said: string
}

const SAID_BYTES = 4096

/** Runs a program of ours, not of the code, to its end; an abort ends it. */
export async function runSetupProcess(options: SetupProcessOptions): Promise<SetupEnd> {
  const { signal, ...rest } = options
  signal?.throwIfAborted()
  const collector = new OutputCollector(SAID_BYTES)
  const process = new HostProcess({
    ...rest,
    onOutput: (stream, bytes) => collector.push({ stream, bytes }),
  })
  const running = process.run()
  try {
    const { code } = await abortable(running, signal)
    return { isOk: code === 0, said: collector.result().output.trim() }
  } catch (error) {
    process.kill()
    await running.catch(() => {})
    throw error
  }
}
