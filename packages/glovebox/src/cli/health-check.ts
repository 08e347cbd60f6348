import type { OutputPipe } from "./output-pipe.ts"

/** What one look at the machine showed, and what to do about it. */
export interface HealthCheck {
  readonly name: string
  /** `fail` is what was asked for and does not work, `off` what does not work and nobody asked for. */
  readonly status: "ok" | "warn" | "off" | "fail"
  readonly seen: string
  readonly remedy?: string | undefined
  /** For programs. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

const COLOURS = { ok: "green", warn: "yellow", off: "dim", fail: "red" } as const
const NAME_WIDTH = 10

/** The check for a person: what was seen in one line, and the remedy below it. */
export function formatCheck({ name, status, seen, remedy }: HealthCheck, pipe: OutputPipe): string {
  const mark = pipe.style(COLOURS[status], status.padEnd(4))
  const indent = " ".repeat("fail  ".length + NAME_WIDTH + 1)
  const line = `${mark}  ${name.padEnd(NAME_WIDTH)} ${seen}`
  return remedy === undefined ? line : `${line}\n${indent}${pipe.style("dim", `-> ${remedy}`)}`
}
