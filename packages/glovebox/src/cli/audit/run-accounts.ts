import type { AuditRecord } from "../../governance/audit/index.ts"
import { CHECKPOINT_KIND, LOG_KIND } from "../../governance/audit/own-records.ts"
import { type KnownRequests, addToAccount } from "./add-to-account.ts"
import { type RunAccount, startAccount } from "./run-account.ts"

const MAX_HELD = 200
const MAX_REQUESTS = 10_000
// What every log says of itself.
const USUAL_EVENTS: readonly unknown[] = ["opened", "rotated"]

/** The accounts of all runs in the records, in the order in which they began; of a long log not all are held at once. */
export async function* runAccounts(
  records: AsyncIterable<AuditRecord>,
  { maxHeld = MAX_HELD }: { readonly maxHeld?: number } = {},
): AsyncGenerator<RunAccount, void> {
  const held = new Map<string | null, RunAccount>()
  const told = new Set<string | null>()
  const requests: Map<string, NonNullable<ReturnType<KnownRequests["get"]>>> = new Map()
  for await (const record of records) {
    if (isUsual(record)) continue
    let account = held.get(record.run)
    if (!account) {
      account = startAccount(record, told.has(record.run))
      held.set(record.run, account)
    }
    addToAccount({ account, record, requests })
    const step = account.steps.at(-1)
    if (step?.type === "approval" && step.request && !step.decision) {
      requests.set(step.id, step.request)
      forgetOldest(requests, MAX_REQUESTS)
    }
    if (held.size <= maxHeld) continue
    const ready = oldestEnded(held) ?? oldest(held)
    if (!ready) continue
    held.delete(ready.run)
    told.add(ready.run)
    forgetOldest(told, MAX_REQUESTS)
    yield ready
  }
  yield* held.values()
}

function isUsual({ kind, data }: AuditRecord): boolean {
  return kind === CHECKPOINT_KIND || (kind === LOG_KIND && USUAL_EVENTS.includes(data["event"]))
}

function oldestEnded(held: ReadonlyMap<string | null, RunAccount>): RunAccount | undefined {
  for (const account of held.values()) if (account.end) return account
  return undefined
}

function oldest(held: ReadonlyMap<string | null, RunAccount>): RunAccount | undefined {
  const [first] = held.values()
  return first
}

interface Kept<Key> {
  readonly size: number
  keys(): Iterable<Key>
  delete(key: Key): boolean
}

function forgetOldest<Key>(kept: Kept<Key>, max: number): void {
  if (kept.size <= max) return
  for (const first of kept.keys()) {
    kept.delete(first)
    return
  }
}
