import type { PolicyInput } from "../policy/index.ts"
import type { Finding } from "./finding.ts"
import type { Given, ProbeContext } from "./probe.ts"

/** What a run of code gave back; the part of a code result that probes look at. */
export interface LabRun {
  readonly exitCode: number
  readonly output: string
  readonly stdout: string
  readonly stderr: string
  readonly termination: string
  readonly truncated: boolean
  readonly artifacts: readonly {
    readonly path: string
    readonly content: Uint8Array
    readonly executable: boolean
  }[]
  readonly artifactsTruncated: boolean
  readonly sandbox: {
    readonly containerId?: string | undefined
    readonly pooled?: boolean | undefined
    /** What the sandbox told of itself. */
    readonly effective?: Readonly<Record<string, unknown>>
  }
}

export interface LabOptions {
  /** Limits in the place of the policy's. */
  readonly limits?: PolicyInput["limits"]
  /** A folder of this machine whose files go in, and changed ones out. */
  readonly workDir?: string | undefined
  /** Calls of one sandbox, whatever the path is. */
  readonly isolation?: "session" | undefined
  /** More that may be reached. */
  readonly allowPrivate?: readonly string[] | undefined
  /** Not weakened, even in a control. */
  readonly isPlain?: boolean | undefined
}

export interface LabRunOptions {
  readonly signal?: AbortSignal | undefined
  readonly language?: "python" | "javascript" | undefined
}

/** What a program said that ran in no sandbox. */
export type LabOutsideRun = Pick<LabRun, "stdout" | "stderr" | "exitCode" | "termination">

/** Sandboxes of the kind under test, with settings of their own. */
export interface LabSandboxes extends AsyncDisposable {
  /** Runs code, of Python unless another language is named. */
  run(code: string, options?: LabRunOptions): Promise<LabRun>
  /** Runs an attack of `agents/probes`. */
  attack(attack: string, given: Given, seconds?: number): Promise<Finding>
}

/** Who came to a listener of this machine. */
export interface LabListeners extends AsyncDisposable {
  /** Every address of this machine that a sandbox could try. */
  readonly targets: readonly (readonly [kind: "tcp" | "udp", address: string, port: number])[]
  /** Who was heard, as "tcp 10.0.0.1"; and how many words of the token. */
  arrivals(): readonly string[]
}

export interface LabDns extends AsyncDisposable {
  /** Where it listens: at port 53, unless another has it, and at one of its own. */
  readonly servers: readonly (readonly [address: string, port: number])[]
  /** Names that were asked for. */
  asked(): readonly string[]
}

/** A container whose connection was cut. */
export interface LabLeftover extends AsyncDisposable {
  /** What the engine has of it now. */
  state(): Promise<"running" | "restarted" | "ended" | "gone">
}

/** The place where a probe works: sandboxes of the kind under test, and observers outside of them. */
export interface Lab extends ProbeContext {
  readonly signal: AbortSignal
  /** Whether the probe is to be shown to work: its sandboxes are weakened, and what holds beside them is left out. */
  readonly isControl: boolean
  /** A word that nothing else has, no other probe either. */
  readonly token: string
  /** Sandboxes with the policy as it is; shared, so not to be disposed of. */
  readonly sandboxes: LabSandboxes
  /** Others, with other settings. */
  open(options: LabOptions): LabSandboxes
  /** Listens at all addresses of this machine, by TCP and UDP, for the token. */
  listen(): Promise<LabListeners>
  /** Listens where a sandbox would ask for names; undefined where it may not. */
  listenDns(): Promise<LabDns | undefined>
  /** A socket of this machine without a file. */
  listenAbstract(name: string): Promise<AsyncDisposable | undefined>
  /** A folder of this machine, with a file that holds the secret; a sandbox that is weakened so has it as a variable. */
  readonly canary: { readonly folder: string; readonly file: string; readonly secret: string }
  /** A process of this machine with the token in its command. */
  hostProcess(): Promise<AsyncDisposable>
  /** How many processes of this machine have this in their command; undefined where it cannot see the sandbox's. */
  processesWith(text: string): Promise<number | undefined>
  /** What the engine has kept of what a container printed; undefined where there is no such thing. */
  keptLog(containerId: string): Promise<string | undefined>
  /** Whether the engine still has a container; undefined where there is none. */
  hasContainer(containerId: string): Promise<boolean | undefined>
  /** Whether this machine has a process of this number. */
  isProcess(id: number): boolean
  /** Runs a probe's own program in this machine's plain interpreter, for its control; undefined where there is none. */
  runOutside(language: "python" | "javascript", code: string): Promise<LabOutsideRun | undefined>
  /** A container whose connection is cut, as when this process dies; undefined where there is no such thing. */
  abandon(): Promise<LabLeftover | undefined>
  /** Bytes of this process's memory. */
  memory(): number
  /** The name of this machine. */
  readonly hostName: string
}
