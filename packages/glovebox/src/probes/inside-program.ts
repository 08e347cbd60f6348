import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { type Finding, OBSERVATIONS, type Observation, failed, plainFinding } from "./finding.ts"
import type { Given, InsideAttack, ProbeContext } from "./probe.ts"

// Beside the built code and beside the source alike.
const FOLDER = new URL("../../agents/probes/", import.meta.url)
const PARTS = ["runner", "filesystem", "kernel", "network", "sockets", "resources", "secrets", "containers"]

/** An attack as a sandbox is asked for it. */
export interface InsideRequest {
  readonly id: string
  readonly attack: string
  readonly given: Given
  readonly seconds: number
  /** The host's, for an attack on the kernel of a sandbox that has one of its own. */
  readonly hostKernel?: string | undefined
}

/** How a sandbox is asked for the attack of a probe. */
export function insideRequest(
  id: string,
  how: InsideAttack,
  context: ProbeContext,
  more: Given = {},
): InsideRequest {
  const { hasOwnKernel, hostKernel } = context.facts
  return {
    id,
    attack: how.attack,
    given: { ...how.given(context), ...more },
    seconds: how.seconds,
    ...(hasOwnKernel && how.isOnKernel ? { hostKernel } : {}),
  }
}

/** A Python program that makes the attacks, and how to read what it prints. */
export interface InsideProgram {
  readonly code: string
  /** One finding for each request, whatever was printed. */
  readonly read: (stdout: string, otherwise: string) => ReadonlyMap<string, Finding>
}

/** Puts the attacks into one program; each in a process of its own, unless they are to be quick. */
export async function insideProgram(
  requests: readonly InsideRequest[],
  { isApart = true }: { readonly isApart?: boolean } = {},
): Promise<InsideProgram> {
  const marker = `${randomUUID()} `
  // JSON in JSON: a text that Python reads as its own.
  const asked = JSON.stringify(JSON.stringify(requests))
  const code = `${await source()}\n\nmain(json.loads(${asked}), ${JSON.stringify(marker)}, ${isApart ? "True" : "False"})\n`
  const read = (stdout: string, otherwise: string): ReadonlyMap<string, Finding> => {
    const found = new Map<string, Finding>()
    for (const line of stdout.split("\n")) {
      if (!line.startsWith(marker)) continue
      const one = readFinding(line.slice(marker.length))
      if (one && !found.has(one.id)) found.set(one.id, one.finding)
    }
    return new Map(requests.map(({ id }) => [id, found.get(id) ?? failed(otherwise)]))
  }
  return { code, read }
}

function readFinding(line: string): { readonly id: string; readonly finding: Finding } | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (typeof value !== "object" || value === null) return undefined
  const { id, observed, evidence } = value as Record<string, unknown>
  if (typeof id !== "string" || typeof evidence !== "string" || !isObservation(observed)) return undefined
  return { id, finding: plainFinding({ observed, evidence }) }
}

function isObservation(value: unknown): value is Observation {
  return OBSERVATIONS.some((one) => one === value)
}

let parts: Promise<string> | undefined

async function source(): Promise<string> {
  parts ??= Promise.all(PARTS.map(async (part) => readFile(new URL(`${part}.py`, FOLDER), "utf8"))).then(
    (texts) => texts.join("\n\n"),
  )
  return parts
}
