import type { CodeExecutor } from "../executors/index.ts"

/** What a test asks of the executor it makes; each field bounds something. */
export interface SubjectOptions {
  /** Of a block, as "2s". */
  readonly timeout?: string | undefined
  readonly memory?: string | undefined
  readonly pids?: number | undefined
  /** How much the workspace holds. */
  readonly workspace?: string | undefined
  /** How many files the workspace holds. */
  readonly files?: number | undefined
  /** How much output is kept, in bytes. */
  readonly output?: number | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly carry?: false | { readonly maxBytes?: number; readonly maxFiles?: number } | undefined
  /** How many calls run at a time. */
  readonly concurrency?: number | undefined
}

/** What an executor can do; a test of what it cannot is left out. */
export interface ExecutorFeatures {
  /** Programs can start processes and send signals. */
  readonly processes: boolean
  /** Files of a call are there in the next one. */
  readonly files: boolean
  /** All calls share one sandbox, in which also what is no file stays. */
  readonly session: boolean
  /** More than one call can run at a time. */
  readonly parallel: boolean
  /** Bounds that are kept. */
  readonly limits: readonly ("memory" | "pids" | "workspace" | "files")[]
  /** Nothing outside can be reached. */
  readonly noNetwork: boolean
  /** The root of the file system cannot be written, and the code has no rights there. */
  readonly hardened: boolean
  /** stdout and stderr travel apart, so that a busy machine may mix up which came first. */
  readonly unordered?: boolean | undefined
  /** This machine's /proc shows the sandbox's processes. */
  readonly hostSeesProcesses: boolean
  /** Python runs in an interpreter that lives from call to call and has files of its own. @default false */
  readonly kernel?: boolean | undefined
}

/** An executor under test. */
export interface ExecutorSubject {
  readonly name: string
  readonly create: (options?: SubjectOptions) => CodeExecutor
  /** Languages that it runs, by the names of the language table. */
  readonly languages: readonly string[]
  /** A language of the table whose program is not there, and what the error has to name. */
  readonly missing?: { readonly language: string; readonly names: RegExp } | undefined
  readonly features: ExecutorFeatures
}
