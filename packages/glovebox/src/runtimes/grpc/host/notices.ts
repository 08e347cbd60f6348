import type { Notice, WireAgentId } from "../wire/wire-message.ts"
import { placeKey } from "./placement.ts"
import type { Switchboard } from "./switchboard.ts"
import type { WorkerSession } from "./worker-session.ts"

/** What a worker tells beside messages. */
export function takeNotice(board: Switchboard, session: WorkerSession, notice: Notice): void {
  if (notice.handled) {
    session.outbox.eventsEnded(notice.handled)
    board.ended(session)
  }
  for (const { id, reason } of notice.cancellations ?? []) {
    if (!board.requests.cancel(session, id, reason)) board.events.cancel(session, id, reason)
  }
  if (notice.removed?.length) takeRemoved(board, session, notice.removed)
  if (notice.alive?.length) takeAlive(board, session, notice.alive)
  if (notice.unregistered?.length) {
    for (const type of notice.unregistered) board.placement.removeType(type, session)
    board.reroute(session)
  }
  if (notice.quiet_question) board.quiet.ask(session, notice.quiet_question.id)
  if (notice.quiet_answer) board.quiet.answered(session, notice.quiet_answer.id, notice.quiet_answer.activity)
  if (notice.leave === "bye") board.end(session, "left")
  else if (notice.leave === "drain") {
    session.isDraining = true
    session.pump()
  }
}

// A message for one may be on its way, and would build it anew: its place is given up when none can be.
function takeRemoved(board: Switchboard, session: WorkerSession, ids: readonly WireAgentId[]): void {
  for (const { type, key } of ids) {
    if (board.placement.placeOf(type, key) === session)
      session.leaving.set(placeKey({ type, key }), { type, key })
  }
  board.ended(session)
}

function takeAlive(board: Switchboard, session: WorkerSession, ids: readonly WireAgentId[]): void {
  const elsewhere = ids.filter(
    ({ type, key }) => !session.agentTypes.has(type) || !board.placement.claim(type, key, session),
  )
  // The later one goes, so that an id never lives twice.
  if (elsewhere.length > 0) session.tell({ removed: elsewhere })
  board.retryParked()
}
