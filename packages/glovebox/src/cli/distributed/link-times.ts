import { formatDuration } from "../../policy/index.ts"
import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"

const GRACE_MS = 5000
const HEARTBEAT_MS = 1000
const HEARTBEATS_IN_GRACE = 3

export interface LinkTimes {
  readonly graceMs: number
  readonly heartbeatMs: number
}

/** A worker that hears nothing for most of the grace time gives up its agents: heartbeats must come more often. */
export function linkTimes(options: { readonly grace?: number; readonly heartbeat?: number }): LinkTimes {
  const { grace: graceMs = GRACE_MS } = options
  const { heartbeat: heartbeatMs = Math.min(HEARTBEAT_MS, Math.ceil(graceMs / 5)) } = options
  if (graceMs >= HEARTBEATS_IN_GRACE * heartbeatMs) return { graceMs, heartbeatMs }
  throw new CommandFailure(
    `--grace ${formatDuration(graceMs)} is too short for --heartbeat ${formatDuration(heartbeatMs)}: give at least three times as much.`,
    { exitCode: EXIT_USAGE },
  )
}
