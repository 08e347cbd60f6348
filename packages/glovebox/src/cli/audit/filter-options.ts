import type { Command } from "commander"
import { AUDIT_KINDS, type AuditRecord, type ReadAuditLogOptions } from "../../governance/audit/index.ts"
import { CHECKPOINT_KIND, LOG_KIND } from "../../governance/audit/own-records.ts"
import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"
import { isDenied } from "./is-denied.ts"
import { readTime } from "./read-time.ts"

export interface FilterOptions {
  readonly kind?: readonly string[]
  readonly run?: string
  readonly agent?: string
  readonly since?: string
  readonly until?: string
  readonly id?: string
  readonly text?: string
  readonly denied?: true
}

export type Filter = Pick<ReadAuditLogOptions, "kind" | "run" | "agent" | "from" | "to" | "text" | "where">

const KINDS: readonly string[] = [...AUDIT_KINDS, LOG_KIND, CHECKPOINT_KIND]

/** Which records are meant; all of the flags must fit. */
export function withFilterOptions(command: Command): Command {
  return command
    .option("-k, --kind <kinds>", `only these, with commas between: ${KINDS.join(", ")}`, readKinds)
    .option("-r, --run <id>", "only of this run")
    .option("-a, --agent <name>", "only of this agent")
    .option("--since <time>", "not before: 2026-05-01, 2026-05-01T10:30 (UTC), or 2h ago")
    .option("--until <time>", "not after")
    .option("--id <id>", "only of this code run, call or approval")
    .option("--text <text>", "only with this anywhere in it")
    .option("--denied", "only what was denied, or failed")
}

export function readFilter({ kind, run, agent, since, until, id, text, denied }: FilterOptions): Filter {
  return {
    kind,
    run,
    agent,
    text,
    from: since === undefined ? undefined : readTime("--since", since),
    to: until === undefined ? undefined : readTime("--until", until),
    where: (record: AuditRecord) =>
      (id === undefined || record.data["id"] === id) && (!denied || isDenied(record)),
  }
}

/** A number of things, for a flag. */
export function readCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw wrong(`"${text}" is no number of records.`)
}

function readKinds(text: string, before: readonly string[] = []): readonly string[] {
  const kinds = text.split(",").map((kind) => kind.trim())
  const unknown = kinds.find((kind) => !KINDS.includes(kind))
  if (unknown === undefined) return [...before, ...kinds]
  throw wrong(`"${unknown}" is no kind of record. There are ${KINDS.join(", ")}.`)
}

function wrong(message: string): CommandFailure {
  return new CommandFailure(message, { exitCode: EXIT_USAGE })
}
