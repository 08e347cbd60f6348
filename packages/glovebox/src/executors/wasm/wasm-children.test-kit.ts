import { readFile, readdir } from "node:fs/promises"

/** The processes of embedded sandboxes that this process has started. */
export async function children(): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      const [stat, command] = await Promise.all(
        ["stat", "cmdline"].map(async (file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")),
      )
      const parent = Number(stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
      return parent === process.pid && command?.includes("wasm/agent.mjs") ? [pid] : []
    }),
  )
  return found.flat()
}

/** The most memory that one of these processes had while something was done, in bytes. */
export async function peakMemory(work: () => Promise<unknown>): Promise<number> {
  let peak = 0
  const others = new Set(await children())
  const measure = async (): Promise<void> => {
    for (const pid of (await children()).filter((each) => !others.has(each))) {
      const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "")
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024)
    }
  }
  const watch = setInterval(() => void measure(), 50)
  await work().finally(() => clearInterval(watch))
  return peak
}
