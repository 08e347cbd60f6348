import type { Component, ComponentModel } from "../../core/index.ts"
import type { PolicyChange, SandboxPolicy } from "../../policy/index.ts"
import { describeFunctions } from "../functions/functions-module.ts"
import type { RunningExecutor } from "../sandbox/running-executor.ts"
import { SandboxExecutor } from "../sandbox/sandbox-executor.ts"
import { type LocalDefinition, defineLocal, localConfigFromOptions } from "./local-component.ts"
import {
  type LocalCommandLineCodeExecutorOptions,
  type LocalOptions,
  readLocalOptions,
} from "./local-options.ts"
import { LocalRunner } from "./local-runner.ts"
import { warnOnce } from "./warn-once.ts"

/**
 * Runs code blocks on this machine itself, as this process's user: no sandbox, for code that you trust as your own.
 *
 * @example
 * await using executor = new LocalCommandLineCodeExecutor({ dangerouslyRunOnHost: true, workDir: "coding" })
 * const { output } = await executor.executeCodeBlocks([{ language: "python", code: "print(6 * 7)" }])
 */
export class LocalCommandLineCodeExecutor extends SandboxExecutor implements Component {
  /** It refuses: data alone never runs code on the host. `localExecutorComponent` lets it. */
  static readonly definition: LocalDefinition = defineLocal(
    (options) => new LocalCommandLineCodeExecutor(options),
  )

  readonly runsOnHost = true
  readonly #options: LocalOptions
  readonly #languages: LocalCommandLineCodeExecutorOptions["languages"]

  constructor(given: LocalCommandLineCodeExecutorOptions) {
    const options = readLocalOptions(given)
    // A stop removes the folder of its own, and a folder of the user's stays: there is nothing more to forget.
    super({
      kind: "local",
      languages: options.languages,
      concurrency: options.concurrency,
      workspace: undefined,
    })
    this.#options = options
    this.#languages = given.languages
    warnOnce()
  }

  /** With its policy as plain fields, and without the word that lets it run on the host. */
  toComponent(): ComponentModel {
    return LocalCommandLineCodeExecutor.definition.dump(
      localConfigFromOptions(this.#options, this.#languages),
    )
  }

  override get policy(): SandboxPolicy {
    return this.#options.policy
  }

  // Little of its policy is held here: a rule that wants one must not take it for a sandbox.
  override get beyondPolicy(): readonly PolicyChange[] {
    return [{ path: "host", from: "absent", to: "everything this process's user may", effect: "widens" }]
  }

  /** What to tell a model of the functions that its code can import. */
  describeFunctions(): string {
    return describeFunctions(this.#options.functions, this.#options.functionsModule)
  }

  protected override async open(signal: AbortSignal): Promise<RunningExecutor> {
    return LocalRunner.start(this.#options, signal)
  }
}

/**
 * Lets a registry make executors from data that run code on this machine itself.
 *
 * @example
 * const registry = defaultRegistry({ dangerouslyRunOnHost: true })
 */
export function localExecutorComponent(options: { readonly dangerouslyRunOnHost: true }): LocalDefinition {
  return defineLocal((read) => new LocalCommandLineCodeExecutor(read), options)
}
