import type { GloveboxError } from "../../core/index.ts"
import type { SandboxProbeFacts } from "../../probes/index.ts"
import type { Language } from "../languages.ts"
import type { Sandbox } from "./sandbox.ts"

/** Makes sandboxes of one policy. */
export interface SandboxLauncher {
  /** Which kind of executor it serves, for reports. */
  readonly kind: string
  /** Makes one; gives up, and leaves nothing, when the signal aborts. */
  launch(signal?: AbortSignal): Promise<Sandbox>
  /** Whether a sandbox that is lost was killed for want of memory. */
  ranOutOfMemory(sandbox: Sandbox): Promise<boolean>
  /** What probes have to know of its sandboxes; without it they cannot be probed when they are taken. */
  probeFacts?(): SandboxProbeFacts
  /** The error for a program that its sandboxes have not. */
  missingProgram(program: string, language: Language): GloveboxError
  close(): Promise<void>
}
