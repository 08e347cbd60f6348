import { writeFile } from "node:fs/promises"
import fc from "fast-check"
import { expect } from "vitest"
import { type AuditBreak, type AuditRecord, verifyAuditLog } from "./index.ts"
import { AuditFolder } from "./audit-folder.test-kit.ts"
import { readRecord, sealRecord } from "./record-line.ts"

/** The line with something else in it, and a hash that fits. */
export function forge(line: string, change: Partial<AuditRecord>): string {
  const record = readRecord(Buffer.from(line))
  if (!record) throw new Error("no record")
  const forged = { ...record, ...change }
  return sealRecord({ ...forged, data: JSON.stringify(forged.data) }).line.trimEnd()
}

interface Attack {
  readonly lines: string[]
  readonly expected: Partial<AuditBreak>
}

type AttackMaker = fc.Arbitrary<(lines: readonly string[]) => Attack | undefined>

const index = fc.nat({ max: 1000 })

/** One change to the lines of a log, and what is to be said of it. */
const attackers: Record<string, AttackMaker> = {
  "an edited byte": fc
    .tuple(index, index, fc.integer({ min: 1, max: 255 }))
    .map(([at, byte, flip]) => (lines) => {
      const place = at % lines.length
      const bytes = Buffer.from(lines[place] ?? "", "latin1")
      const position = byte % bytes.length
      bytes[position] = (bytes[position] ?? 0) ^ flip
      return {
        lines: lines.with(place, bytes.toString("latin1")),
        expected: { kind: "edit", seq: place + 1, line: place + 1 },
      }
    }),
  "an edited record with a hash that fits": index.map((at) => (lines) => {
    const place = at % (lines.length - 1)
    const forged = forge(lines[place] ?? "", { agent: "mallory" })
    return { lines: lines.with(place, forged), expected: { kind: "edit", seq: place + 1, line: place + 1 } }
  }),
  "a deletion": index.map((at) => (lines) => {
    const place = at % (lines.length - 1)
    return {
      lines: lines.toSpliced(place, 1),
      expected: { kind: "deletion", seq: place + 1, line: place + 1 },
    }
  }),
  "a cut end": index.map((at) => (lines) => {
    const place = at % lines.length
    return { lines: lines.slice(0, place), expected: { kind: "truncation", seq: place + 1 } }
  }),
  "a moved record": fc.tuple(index, index).map(([from, to]) => (lines) => {
    const source = from % lines.length
    const target = to % lines.length
    if (source === target) return undefined
    const moved = lines.toSpliced(source, 1).toSpliced(target, 0, lines[source] ?? "")
    const place = Math.min(source, target) + 1
    return { lines: moved, expected: { kind: "reordering", seq: place, line: place } }
  }),
  "two records in each other's place": fc.tuple(index, index).map(([one, other]) => (lines) => {
    const first = one % lines.length
    const second = other % lines.length
    if (first === second) return undefined
    const swapped = lines.with(first, lines[second] ?? "").with(second, lines[first] ?? "")
    const place = Math.min(first, second) + 1
    return { lines: swapped, expected: { kind: "reordering", seq: place, line: place } }
  }),
  "a copied record": fc.tuple(index, index).map(([from, to]) => (lines) => {
    const source = from % lines.length
    const target = to % (lines.length + 1)
    // A copy before its own is the same as one after it.
    const place = target === source ? target + 1 : target
    const copied = lines.toSpliced(target, 0, lines[source] ?? "")
    return { lines: copied, expected: { kind: "insertion", seq: place + 1, line: place + 1 } }
  }),
  "a forged record between two": index.map((at) => (lines) => {
    const place = at % (lines.length - 2)
    const forged = forge(lines[place] ?? "", { kind: "custom", data: { name: "forged" } })
    return { lines: lines.toSpliced(place, 0, forged), expected: { kind: "insertion", line: place + 1 } }
  }),
  "a line that is no record": fc.tuple(index, fc.string()).map(([at, text]) => (lines) => {
    const place = at % lines.length
    const line = text.replaceAll(/[\n\r]/g, "")
    return { lines: lines.toSpliced(place, 0, line), expected: { kind: "insertion", line: place + 1 } }
  }),
}

export const attacks = Object.entries(attackers)

/** Whether so many attacks of a sort are each found, and named, at their place. */
export async function findsEach(attack: AttackMaker, numRuns: number): Promise<boolean> {
  await using folder = await AuditFolder.make()
  await folder.write(9, { checkpointEvery: 4 })
  const lines = await folder.lines()
  const property = fc.asyncProperty(attack, async (make) => {
    const made = make(lines)
    if (!made) return
    await writeFile(folder.path, made.lines.map((line) => `${line}\n`).join(""), "latin1")
    const { ok, broken } = await verifyAuditLog(folder.path)
    expect(ok).toBe(false)
    expect(broken).toMatchObject(made.expected)
  })
  await fc.assert(property, { numRuns })
  return true
}
