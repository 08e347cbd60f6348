import { abortable } from "../../../internal/abortable.ts"
import { toText } from "../../messages/index.ts"
import { ScriptedAgent } from "../../scripted-agent.test-kit.ts"
import type { BaseGroupChat } from "../base-group-chat.ts"

/** Agents who can be held until a test gives them their cue, and a record of when they begin (`a>`) and end (`a<`). */
export class Stage {
  readonly record: string[] = []
  readonly #held = new Map<string, (() => void)[]>()
  readonly #spoken = new Map<string, number>()
  #waiting: { readonly entry: string; readonly times: number; readonly resolve: () => void }[] = []
  /** Called when somebody begins, and when they are about to speak. */
  onBegin: (name: string, signal: AbortSignal) => void | Promise<void> = () => {}

  /** Says its name and how often it has spoken; or what the test says. */
  agent(name: string, line: (turn: number) => string = (turn) => `${name}${turn}`): ScriptedAgent {
    return new ScriptedAgent(name, async ({ signal }) => {
      this.#note(`${name}>`)
      await this.onBegin(name, signal)
      const held = this.#held.get(name)
      if (held) await abortable(new Promise<void>((resolve) => held.push(resolve)), signal)
      signal.throwIfAborted()
      this.#note(`${name}<`)
      const turn = (this.#spoken.get(name) ?? 0) + 1
      this.#spoken.set(name, turn)
      return line(turn)
    })
  }

  agents(...names: readonly string[]): ScriptedAgent[] {
    return names.map((name) => this.agent(name))
  }

  /** From now on they wait for `cue` when they have begun. */
  hold(...names: readonly string[]): void {
    for (const name of names) this.#held.set(name, [])
  }

  cue(name: string): void {
    const next = this.#held.get(name)?.shift()
    if (!next) throw new Error(`${name} waits for no cue: ${this.record.join(" ")}`)
    next()
  }

  letGo(...names: readonly string[]): void {
    for (const name of names) {
      const held = this.#held.get(name) ?? []
      this.#held.delete(name)
      for (const resolve of held) resolve()
    }
  }

  /** Resolves when somebody has begun, for the n-th time, and waits for a cue if held. */
  async begun(name: string, times = 1): Promise<void> {
    const entry = `${name}>`
    if (this.#count(entry) < times) {
      await new Promise<void>((resolve) => this.#waiting.push({ entry, times, resolve }))
    }
    // The step notes it first and waits for the cue right after.
    await new Promise<void>((resolve) => {
      setImmediate(resolve)
    })
  }

  #count(entry: string): number {
    return this.record.filter((other) => other === entry).length
  }

  #note(entry: string): void {
    this.record.push(entry)
    const ready = this.#waiting.filter((wait) => wait.entry === entry && this.#count(entry) >= wait.times)
    this.#waiting = this.#waiting.filter((wait) => !ready.includes(wait))
    for (const { resolve } of ready) resolve()
  }
}

/** Everything that the team has heard, through all its runs. */
export async function heardBy(team: BaseGroupChat): Promise<string[]> {
  const { thread } = await team.saveState()
  return (thread as unknown as { readonly content: string }[]).map(({ content }) => content)
}

export function texts(messages: readonly object[]): string[] {
  return messages.map((message) => toText(message as never))
}
