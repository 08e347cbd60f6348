import { z } from "zod"
import { argumentsSchema } from "./openai-completion.ts"

export const callDeltaSchema = z.object({
  index: z.int().nonnegative().nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: argumentsSchema }).nullish(),
})

type CallDelta = z.output<typeof callDeltaSchema>

interface GatheredCall {
  readonly index: number
  id: string
  name: string
  arguments: string
}

/** The calls of a stream, put together from pieces that servers number, name and repeat in their own ways. */
export class GatheredCalls {
  readonly #calls: GatheredCall[] = []

  get all(): readonly Readonly<GatheredCall>[] {
    return this.#calls
  }

  add(delta: CallDelta): void {
    const { id, function: part } = delta
    let call = this.#find(delta)
    if (!call || beginsAnother(call, delta)) {
      call = { index: delta.index ?? this.#calls.length, id: "", name: "", arguments: "" }
      this.#calls.push(call)
    }
    call.id ||= id ?? ""
    // Some servers repeat the name in each piece.
    if (part?.name && part.name !== call.name) call.name += part.name
    call.arguments += part?.arguments ?? ""
  }

  #find({ index, id }: CallDelta): GatheredCall | undefined {
    // Without a number a piece belongs to the call with its id, else to the last.
    if (typeof index !== "number")
      return this.#calls.findLast((call) => id && call.id === id) ?? this.#calls.at(-1)
    const numbered = this.#calls.filter((call) => call.index === index)
    // Gemini's server gives parallel calls the same number and ids of their own.
    return numbered.findLast((call) => id && call.id === id) ?? numbered.at(-1)
  }
}

/** True for the first piece of a call that has no number of its own to tell it from the one before. */
function beginsAnother(call: GatheredCall, { id, function: part }: CallDelta): boolean {
  if (id && call.id !== "") return call.id !== id
  // A name comes before its arguments, so that one after whole arguments is another call's.
  if (!part?.name || call.arguments === "") return false
  return part.name !== call.name || (part.arguments !== "" && isWhole(call.arguments))
}

function isWhole(json: string): boolean {
  try {
    JSON.parse(json)
    return true
  } catch {
    return false
  }
}
