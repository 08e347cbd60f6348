import type { LLMMessage } from "../models/index.ts"
import type { UnitsOutline } from "./message-units.ts"

/** A conversation that can be shortened from the middle; system messages and the last unit always stay. */
export class MiddleCut {
  readonly #outline: UnitsOutline
  readonly #units: number
  /** How many units may go. */
  readonly removable: number

  constructor(outline: UnitsOutline) {
    const { starts, system } = outline
    this.#outline = outline
    this.#units = starts.length - 1
    const isLastRemovable = this.#units > 0 && !system.has(this.#units - 1)
    this.removable = this.#units - system.size - (isLastRemovable ? 1 : 0)
  }

  /** What is left when of the units that may go only so many stay: the ones farthest from the middle. */
  keeping(count: number): LLMMessage[] {
    const { messages, starts, system } = this.#outline
    const [before, behind] = this.#gap(count)
    const between = [...system].filter((unit) => unit >= before && unit < behind)
    const shown = messages.slice(0, starts[before])
    for (const unit of between) shown.push(...messages.slice(starts[unit], starts[unit + 1]))
    shown.push(...messages.slice(starts[behind], starts.at(-1)))
    return shown
  }

  /** Up to which unit, and from which on, everything stays. */
  #gap(count: number): readonly [before: number, behind: number] {
    const { system } = this.#outline
    let before = 0
    let behind = Math.max(0, this.#units - 1)
    for (let kept = 0, isLeft = true; kept < count && before < behind; isLeft = !isLeft) {
      // Where two are as far away, the later one stays: the last does in any case, so that it is the first one's turn.
      const unit = isLeft ? before : behind - 1
      if (isLeft) before += 1
      else behind -= 1
      if (!system.has(unit)) kept += 1
    }
    return [before, behind]
  }
}
