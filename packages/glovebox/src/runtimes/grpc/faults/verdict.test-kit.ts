import type { Happening } from "./record.test-kit.ts"

/** What must not happen, whatever is killed, stopped or cut. Each list is empty where all is well. */
export interface Verdict {
  /** Messages that several handlers began. */
  readonly handledTwice: readonly string[]
  /** Agents of which one began something after another with its id was built elsewhere. */
  readonly livedTwice: readonly string[]
  /** Agents that ran two handlers at a time, here or there. */
  readonly ranTwice: readonly string[]
  /** Sends without an outcome, of processes that are alive. */
  readonly unsettled: readonly string[]
  /** Sends that failed with something else than one of our errors. */
  readonly untyped: readonly string[]
}

interface Life {
  readonly name: string
  readonly worker: string
  readonly bornAt: number
  lastBeginAt: number
}

interface Span {
  readonly name: string
  readonly from: number
  readonly to: number
}

export function judge(record: readonly Happening[]): Verdict {
  return {
    handledTwice: repeated(record.filter(({ what }) => what === "begin").map(({ id = "" }) => id)),
    livedTwice: overlaps(livesByAgent(record)),
    ranTwice: overlaps(runsByAgent(record)),
    unsettled: unsettled(record),
    untyped: record.flatMap(({ id = "", code }) => (code?.startsWith("untyped") ? [`${id} ${code}`] : [])),
  }
}

export const INNOCENT: Verdict = {
  handledTwice: [],
  livedTwice: [],
  ranTwice: [],
  unsettled: [],
  untyped: [],
}

/** How sends ended, and how often. */
export function outcomes(record: readonly Happening[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { what, code = "" } of record) if (what === "settled") counts[code] = (counts[code] ?? 0) + 1
  return counts
}

function repeated(ids: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  return ids.filter((id) => seen.has(id) || !seen.add(id))
}

/** An agent lives, for others, from when it was built to when it last began something. */
function livesByAgent(record: readonly Happening[]): ReadonlyMap<string, readonly Span[]> {
  const lives = new Map<string, Life>()
  for (const { at, what, agent = "", life = "", worker } of record) {
    if (what === "born") lives.set(life, { name: agent, worker, bornAt: at, lastBeginAt: at })
    const known = lives.get(life)
    if (what === "begin" && known) known.lastBeginAt = at
  }
  return grouped(
    [...lives.values()].map((life) => ({
      name: life.name,
      from: life.bornAt,
      to: life.lastBeginAt,
    })),
  )
}

/** What a process had begun when it was stopped goes on when it continues: nobody can keep it from that. */
function runsByAgent(record: readonly Happening[]): ReadonlyMap<string, readonly Span[]> {
  const endedAt = new Map<string, number>()
  const stops = new Map<string, number[]>()
  for (const { at, what, worker, id = "" } of record) {
    if (what === "end") endedAt.set(`${worker} ${id}`, at)
    if (what === "stopped" || what === "killed") stops.set(worker, [...(stops.get(worker) ?? []), at])
  }
  const runs = record
    .filter(({ what }) => what === "begin")
    .map(({ at, agent = "", worker, id = "" }) => {
      const ended = endedAt.get(`${worker} ${id}`) ?? Number.POSITIVE_INFINITY
      const stopped = stops.get(worker)?.find((stop) => stop >= at) ?? Number.POSITIVE_INFINITY
      return { name: agent, from: at, to: Math.min(ended, stopped) }
    })
  return grouped(runs)
}

function grouped(spans: readonly Span[]): ReadonlyMap<string, readonly Span[]> {
  const groups = new Map<string, Span[]>()
  for (const span of spans) {
    const group = groups.get(span.name)
    if (group) group.push(span)
    else groups.set(span.name, [span])
  }
  return groups
}

function overlaps(groups: ReadonlyMap<string, readonly Span[]>): readonly string[] {
  return [...groups].flatMap(([name, spans]) => {
    const sorted = spans.toSorted((one, other) => one.from - other.from)
    const found = sorted.find((span, index) => sorted.slice(0, index).some(({ to }) => to > span.from))
    return found ? [`${name} at ${found.from}`] : []
  })
}

function unsettled(record: readonly Happening[]): readonly string[] {
  const dead = new Set(record.filter(({ what }) => what === "killed").map(({ worker }) => worker))
  const open = new Set<string>()
  for (const { what, worker, id = "" } of record) {
    if (dead.has(worker)) continue
    if (what === "sent") open.add(id)
    if (what === "settled") open.delete(id)
  }
  return [...open]
}
