import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import { type MessageFactory, isChatMessage } from "../messages/index.ts"
import { NO_USAGE } from "../task/index.ts"
import type { SuspendedTurn, Suspension } from "./suspension.ts"

const tokens = z.number().nonnegative()

/** Fields of a team's state; those that were saved before there were such turns have none. */
export const suspensionShape = {
  /** Turns in which somebody waits for approvals. */
  suspended: z
    .array(
      z.strictObject({
        speaker: z.string(),
        items: z.array(z.unknown()),
        /** Ids of those of the items that others hear when the turn has ended. */
        said: z.array(z.string()),
        pending: z.array(z.string()),
      }),
    )
    .default([]),
  unseen: z.strictObject({ promptTokens: tokens, completionTokens: tokens }).default(NO_USAGE),
}

const schema = z.object(suspensionShape)
type SuspensionState = z.output<typeof schema>

export function saveSuspension({ turns, unseen }: Suspension): SuspensionState {
  const suspended = turns.map(({ speaker, items, said, pending }) => ({
    speaker,
    items: [...items],
    said: said.map(({ id }) => id),
    pending: [...pending],
  }))
  return { suspended, unseen }
}

/** @throws STATE_INVALID */
export function readSuspended(
  saved: SuspensionState["suspended"],
  factory: MessageFactory,
): readonly SuspendedTurn[] {
  return saved.map(({ speaker, items: data, said: ids, pending }) => {
    const items = data.map((item) => factory.create(item))
    const said = items.filter(isChatMessage).filter(({ id }) => ids.includes(id))
    if (said.length === ids.length) return { speaker, items, said, pending }
    throw new GloveboxError(
      "STATE_INVALID",
      `What ${speaker} said before it had to wait is not in the state.`,
    )
  })
}
