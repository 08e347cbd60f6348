import { twoDecimals, whole } from "../format-number.ts"
import { formatTable } from "../format-table.ts"
import { ROUNDS } from "./settings.ts"
import type { TierTimes } from "./tier-times.ts"

export interface TierNumbers extends TierTimes {
  readonly instanceBytes: number | undefined
}

export function executorsReport(tiers: readonly TierNumbers[]): string {
  const header = [`p50 of ${ROUNDS} rounds`, "ready ms", "fresh ms", "of host", "session ms", "of host"]
  const rows = tiers.map(({ name, readyMs, freshMs, sessionMs, hostMs, loopMs, hostLoopMs, ...rest }) => [
    name,
    whole(readyMs),
    maybe(freshMs, twoDecimals),
    maybe(freshMs, (ms) => twoDecimals(ms / hostMs)),
    maybe(sessionMs, twoDecimals),
    maybe(sessionMs, (ms) => twoDecimals(ms / hostMs)),
    twoDecimals(loopMs / hostLoopMs),
    twoDecimals(rest.killMs),
    maybe(rest.instanceBytes, (bytes) => whole(bytes / 1024 ** 2)),
  ])
  return formatTable([...header, "loop, of host", "kill ms", "MiB"], rows)
}

function maybe(value: number | undefined, format: (value: number) => string): string {
  return value === undefined ? "-" : format(value)
}
