import { readFile, readdir } from "node:fs/promises"
import type { Tier } from "./tiers.ts"

/** What a sandbox holds that waits: the memory of its processes, shared pages by their share. */
export async function measureInstanceBytes(tier: Tier): Promise<number | undefined> {
  const before = new Set(await processes())
  const isolation = tier.isolations.includes("session") ? "session" : "run"
  await using executor = tier.create({ isolation })
  // A sandbox of a session stays; one of the pool takes the used one's place.
  const { sandbox } = await executor.executeCodeBlocks([{ language: "python", code: "print(1)" }])
  if (sandbox.kind === "local") return undefined
  const bytes = await Promise.all(
    (await processes()).filter((pid) => !before.has(pid)).map(proportionalBytes),
  )
  return bytes.reduce((sum, each) => sum + each, 0)
}

async function processes(): Promise<string[]> {
  return (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
}

async function proportionalBytes(pid: string): Promise<number> {
  try {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, "latin1")
    return Number(/^Pss: +(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
