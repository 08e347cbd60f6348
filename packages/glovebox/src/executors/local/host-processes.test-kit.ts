import { readFileSync, readdirSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"

/** Processes of this machine whose command line has this text. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandOf(pid).includes(text))
    .map(Number)
}

/** Waits until the condition holds; fails when it does not come to. */
export async function eventually(what: string, condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (condition()) return
    await pause(25)
  }
  throw new Error(`It did not come to this: ${what}`)
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
  } catch {
    return ""
  }
}
