import type { PolicyInput, SandboxPolicy } from "../../policy/index.ts"
import type { EgressLookup } from "../../egress/index.ts"
import type { SecretOptions } from "./secret-values.ts"
import type { PythonFunction } from "../functions/python-function.ts"
import type { LanguageOptions } from "../languages.ts"

/** Options of every executor with sandboxes. */
export interface SandboxOptions {
  /** What the code may do. @default deny-all */
  readonly policy?: SandboxPolicy | PolicyInput | undefined

  // Fields of the policy, for short; each takes the place of the policy's own.
  /** How long a block may run, as "60s" or in milliseconds. */
  readonly timeout?: string | number | undefined
  readonly memory?: string | number | undefined
  readonly env?: Readonly<Record<string, string>> | undefined

  /** A fresh sandbox for each call, or one for the executor's life. @default "run" */
  readonly isolation?: "run" | "session" | undefined
  /** Sandboxes that wait, ready; false for none. @default { size: 2, idleLease: "5m" } */
  readonly pool?:
    | false
    | { readonly size?: number | undefined; readonly idleLease?: string | number | undefined }
    | undefined
  /** How many calls run at a time; others wait their turn. @default 4 */
  readonly concurrency?: number | undefined
  /** A folder of the host whose files go in, and into which changed files come out. @default memory */
  readonly workDir?: string | undefined
  /** Files carried between calls and given as artifacts; false for none. @default { maxBytes: "64MiB", maxFiles: 4096 } */
  readonly carry?:
    | false
    | { readonly maxBytes?: string | number | undefined; readonly maxFiles?: number | undefined }
    | undefined
  /** Whether files of code without a name of their own are removed after the call. @default false */
  readonly deleteTmpFiles?: boolean | undefined
  /** Python functions that the code can import. */
  readonly functions?: readonly PythonFunction[] | undefined
  /** @default "functions" */
  readonly functionsModule?: string | undefined
}

/** Options of executors whose sandboxes have a system in them, with programs and users. */
export interface SystemSandboxOptions extends SandboxOptions, SecretOptions {
  // Fields of the policy, for short.
  readonly cpus?: number | undefined
  readonly pids?: number | undefined
  readonly network?: PolicyInput["network"]
  /** How connections of an allow-list are made. */
  readonly egress?:
    | {
        /** How names become addresses. @default as this machine resolves them */
        readonly lookup?: EgressLookup | undefined
        /** Authorities, as PEM, that servers of intercepted hosts may have beside those that Node knows. @default none */
        readonly ca?: string | readonly string[] | undefined
      }
    | undefined
  readonly user?: string | undefined
  readonly seccomp?: PolicyInput["seccomp"]

  /** Python by fork of an interpreter that is ready, or started anew. @default "ready" */
  readonly interpreter?: "ready" | "fresh" | undefined
  /**
   * "claim" attacks each sandbox before code runs in it, with the quick probes of `glovebox verify` that leave no trace,
   * and refuses one in which an attack works. @default no attack
   */
  readonly verify?: "claim" | undefined
  /** Languages to add or replace. */
  readonly languages?: Readonly<Record<string, LanguageOptions>> | undefined
  /** A shell command that runs once in each sandbox, before any code. */
  readonly initCommand?: string | undefined
}
