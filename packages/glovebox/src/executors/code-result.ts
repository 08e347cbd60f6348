import type { EgressConnection } from "../egress/index.ts"
import type { RichOutput } from "./rich-output.ts"

/** How a block came to its end. */
export type Termination =
  | "exit"
  | "signal"
  | "timeout"
  | "oom"
  | "process-limit"
  | "disk-full"
  | "output-limit"

/** A bound of the policy that the code ran into, whether or not it ended by that. */
export type LimitHit = "wall" | "memory" | "pids" | "workspace" | "output"

export interface BlockResult {
  readonly language: string
  /** The file the code was in, relative to the workspace. */
  readonly codeFile: string
  /** 124 for a timeout, 128 plus the number for a signal, else the program's own. */
  readonly exitCode: number
  /** Such as "SIGKILL", when a signal ended it. */
  readonly signal?: string | undefined
  readonly termination: Termination
  readonly limitsHit: readonly LimitHit[]
  /** stdout and stderr in the order they arrived. */
  readonly output: string
  readonly stdout: string
  readonly stderr: string
  /** Whether the middle of the output was left out. */
  readonly truncated: boolean
  readonly durationMs: number
  /** What the code showed beside its text; only of executors that can. */
  readonly outputs?: readonly RichOutput[] | undefined
}

/** A file that the code made or changed. */
export interface Artifact {
  /** Relative to the workspace. */
  readonly path: string
  readonly size: number
  readonly sha256: string
  readonly executable: boolean
  readonly content: Uint8Array
}

/** The wall that was really there, read from the running sandbox. */
export interface SandboxReport {
  /** Which kind of executor it was. */
  readonly kind: string
  readonly policySha256: string
  readonly isolation: "run" | "session"
  readonly image?: string | undefined
  /** The image's id, which is the digest of its content. */
  readonly imageDigest?: string | undefined
  readonly runtime?: string | undefined
  readonly containerId?: string | undefined
  /** Which engine of a fleet it was on. */
  readonly engine?: string | undefined
  /** Whether the container was waiting, ready, when the code came. */
  readonly pooled?: boolean | undefined
  /** What the engine and the kernel said of it. */
  readonly effective: Readonly<Record<string, unknown>>
}

export interface CodeResult {
  /** That of the last block that ran. */
  readonly exitCode: number
  readonly output: string
  readonly stdout: string
  readonly stderr: string
  readonly termination: Termination
  readonly truncated: boolean
  readonly durationMs: number
  /** One for each block that ran; blocks after a failure do not run. */
  readonly blocks: readonly BlockResult[]
  /** Files made or changed by the code; files over the limits are left out, and `artifactsTruncated` is true. */
  readonly artifacts: readonly Artifact[]
  readonly artifactsTruncated: boolean
  /** The file of the first block, relative to the workspace. */
  readonly codeFile: string
  /** What all blocks showed beside their text; only of executors that can. */
  readonly outputs?: readonly RichOutput[] | undefined
  /** Whether variables of earlier calls, or of this one, are gone; only of executors that keep them. */
  readonly stateLost?: boolean | undefined
  /** How that came, in a sentence. */
  readonly stateLostBecause?: string | undefined
  /** What the code tried to reach, and what came of it; only where the policy has an allow-list. */
  readonly egress?: readonly EgressConnection[] | undefined
  /** Whether there were more of those than are kept. */
  readonly egressTruncated?: boolean | undefined
  readonly sandbox: SandboxReport
}
