import { GloveboxError, type JsonObject } from "../../../core/index.ts"
import { abortable } from "../../../internal/abortable.ts"
import { describe } from "../../../internal/describe.ts"
import type { ChatCompletionContext } from "../../../memory/index.ts"
import type { ChatItem } from "../../messages/index.ts"
import type { Floor, NextSpeakers, SpeakerPolicy } from "../speaker-policy.ts"
import { mentionFinder } from "./find-mentions.ts"
import { type ModelSelectionOptions, selectByModel } from "./model-selection.ts"
import { SelectionHistory } from "./selection-history.ts"

export interface SelectOptions {
  /** Aborted when nobody waits for the choice any more. */
  readonly signal: AbortSignal
}

/** Names who speaks next, or nobody to leave it to the model. */
export type SelectorFunc = (
  thread: readonly ChatItem[],
  options: SelectOptions,
) => string | null | undefined | Promise<string | null | undefined>

/** Names who may speak next: at least one. */
export type CandidateFunc = (
  thread: readonly ChatItem[],
  options: SelectOptions,
) => readonly string[] | Promise<readonly string[]>

export interface SelectorPolicyOptions extends ModelSelectionOptions {
  readonly names: readonly string[]
  readonly allowRepeatedSpeaker: boolean
  /** Whether somebody who is alone speaks once a run, because nothing else would end it. */
  readonly isOnceIfAlone: boolean
  readonly selectorFunc: SelectorFunc | undefined
  readonly candidateFunc: CandidateFunc | undefined
  readonly modelContext: ChatCompletionContext
}

/** A function of the program decides who speaks next, or a model does. */
export class SelectorPolicy implements SpeakerPolicy {
  readonly #options: SelectorPolicyOptions
  readonly #history: SelectionHistory
  readonly #findMentions: ReturnType<typeof mentionFinder>
  #previous: string | undefined
  /** Whether somebody had a turn in this run. */
  #hasSpoken = false

  constructor(options: SelectorPolicyOptions) {
    this.#options = options
    this.#history = new SelectionHistory(options.modelContext)
    this.#findMentions = mentionFinder(options.names)
  }

  begin(): void {
    this.#hasSpoken = false
  }

  async next(floor: Floor): Promise<NextSpeakers> {
    const { team, names, isOnceIfAlone } = this.#options
    const chosen = await this.#chosen(floor)
    if (chosen !== undefined) return { speakers: [chosen] }
    if (names.length === 1 && isOnceIfAlone && this.#hasSpoken) {
      return { stop: `${names.join()} has spoken and is alone in ${team}.` }
    }
    const candidates = (await this.#named(floor)) ?? this.#others()
    if (candidates.length === 1) return { speakers: candidates }
    const selected = await selectByModel(this.#options, floor, candidates, this.#history, this.#findMentions)
    return { speakers: selected === undefined ? this.#firstInTurn(candidates) : [selected] }
  }

  finished(speaker: string): void {
    // Whoever was interrupted has not spoken.
    this.#previous = speaker
    this.#hasSpoken = true
  }

  async reset(): Promise<void> {
    this.#previous = undefined
    await this.#history.clear()
  }

  saveState(): JsonObject {
    return { previousSpeaker: this.#previous ?? null }
  }

  async loadState({ previousSpeaker }: JsonObject): Promise<void> {
    const { names } = this.#options
    if (previousSpeaker !== null && !names.some((name) => name === previousSpeaker)) {
      throw new GloveboxError(
        "STATE_INVALID",
        "This is no state of a selector: its previous speaker is not known.",
      )
    }
    this.#previous = names.find((name) => name === previousSpeaker)
    await this.#history.clear()
  }

  /** Whom `selectorFunc` chose. */
  async #chosen({ thread, signal }: Floor): Promise<string | undefined> {
    const { selectorFunc } = this.#options
    if (!selectorFunc) return undefined
    const name: unknown = await abortable(Promise.resolve(selectorFunc(thread, { signal })), signal)
    if (name === undefined || name === null) return undefined
    this.#checkKnown("selectorFunc", name)
    return name
  }

  /** Whom `candidateFunc` named, each once. */
  async #named({ thread, signal }: Floor): Promise<readonly string[] | undefined> {
    const { candidateFunc, names } = this.#options
    if (!candidateFunc) return undefined
    const given: unknown = await abortable(Promise.resolve(candidateFunc(thread, { signal })), signal)
    if (!Array.isArray(given) || given.length === 0) throw this.#invalid("candidateFunc", given)
    for (const name of given) this.#checkKnown("candidateFunc", name)
    return names.filter((name) => given.includes(name))
  }

  #others(): readonly string[] {
    const { names, allowRepeatedSpeaker } = this.#options
    return allowRepeatedSpeaker || names.length === 1
      ? names
      : names.filter((name) => name !== this.#previous)
  }

  /** The first candidate after whoever spoke last, in the order of the participants. */
  #firstInTurn(candidates: readonly string[]): readonly string[] {
    const { names } = this.#options
    const after = names.findIndex((name) => name === this.#previous) + 1
    const inTurn = [...names.slice(after), ...names.slice(0, after)]
    return inTurn.filter((name) => candidates.includes(name)).slice(0, 1)
  }

  #checkKnown(what: string, name: unknown): asserts name is string {
    if (!this.#options.names.some((known) => known === name)) throw this.#invalid(what, name)
  }

  #invalid(what: string, given: unknown): GloveboxError {
    const { team, names } = this.#options
    return new GloveboxError(
      "SPEAKER_INVALID",
      `${what} of ${team} gave ${describe(given)}. ${what === "candidateFunc" ? "Return a list of one or more" : "Return one"} of the participants: ${names.join(", ")}.`,
    )
  }
}
