import { constants } from "node:fs"
import { mkdir, readFile, readdir, rmdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import type { PolicyFields } from "../../policy/index.ts"
import type { CgroupPlace, Controller } from "./cgroup-places.ts"
import { isOrphan } from "./cgroup-owner.ts"
import { wholePages } from "../sandbox/whole-pages.ts"

const PERIOD_US = 100_000
const LEAST_QUOTA_US = 1_000
const REMOVE_LIMIT_MS = 5_000
/** bwrap's own process, which waits outside for the sandbox's end. */
export const PROCESSES_OUTSIDE = 1

/** The share of the processors as the kernel counts it. */
export function cpuQuota(cpus: number): number {
  return Math.max(LEAST_QUOTA_US, Math.round(cpus * PERIOD_US)) / PERIOD_US
}

/** The cgroup of one sandbox, with its limits set. */
export class SandboxCgroup {
  readonly version: 1 | 2
  readonly #folders: ReadonlyMap<Controller, string>

  private constructor(version: 1 | 2, folders: ReadonlyMap<Controller, string>) {
    this.version = version
    this.#folders = folders
  }

  /** Makes it, or nothing: what could not be limited is removed again. */
  static async create(
    { version, folders }: CgroupPlace,
    name: string,
    limits: PolicyFields["limits"],
  ): Promise<SandboxCgroup> {
    const own = new Map([...folders].map(([controller, folder]) => [controller, join(folder, name)]))
    const made: string[] = []
    try {
      for (const folder of new Set(own.values())) {
        await mkdir(folder)
        made.push(folder)
      }
      for (const [controller, folder] of own) await limit(version, controller, folder, limits)
      return new SandboxCgroup(version, own)
    } catch (error) {
      for (const folder of made) await removeCgroup(folder).catch(() => {})
      throw error
    }
  }

  /** Its folders by where the agent looks for them. */
  get binds(): { readonly source: string; readonly target: string }[] {
    if (this.version === 1) {
      return [...this.#folders].map(([name, source]) => ({ source, target: `/sys/fs/cgroup/${name}` }))
    }
    return [...new Set(this.#folders.values())].map((source) => ({ source, target: "/sys/fs/cgroup" }))
  }

  /** Puts a process in, and with it all that it will start. */
  async add(pid: number): Promise<void> {
    for (const folder of new Set(this.#folders.values())) {
      await writeFile(join(folder, "cgroup.procs"), String(pid))
    }
  }

  /** Whether the kernel killed anything in it for want of memory. */
  async ranOutOfMemory(): Promise<boolean> {
    const folder = this.#folders.get("memory")
    if (folder === undefined) return false
    const file = this.version === 1 ? "memory.oom_control" : "memory.events"
    const text = await readFile(join(folder, file), "utf8").catch(() => "")
    return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0) > 0
  }

  /** Ends all that is in it, at once. */
  async kill(): Promise<void> {
    const folders = [...new Set(this.#folders.values())]
    await Promise.all(
      folders.map(async (folder) => {
        // Version 1 has no such file, and kernels before 5.14 neither.
        const isKilled =
          this.version === 2 &&
          (await writeFile(join(folder, "cgroup.kill"), "1", { flag: constants.O_WRONLY }).then(
            () => true,
            () => false,
          ))
        if (!isKilled) await killAll(folder)
      }),
    )
  }

  /** Ends what is in it, and removes it: an empty place is the proof that nothing is left. */
  async remove(): Promise<void> {
    const removals = [...new Set(this.#folders.values())].map(async (folder) => removeCgroup(folder))
    const ends = await Promise.allSettled(removals)
    for (const end of ends) if (end.status === "rejected") throw end.reason
  }
}

/** Removes the cgroups that processes left which are gone; of them nothing is needed any more. */
export async function sweepCgroups({ folders }: CgroupPlace): Promise<string[]> {
  const swept: string[] = []
  for (const folder of new Set(folders.values())) {
    for (const name of (await readdir(folder).catch((): string[] => [])).filter(isOrphan)) {
      const path = join(folder, name)
      // Another process may be at the same work.
      if (
        await removeCgroup(path).then(
          () => true,
          () => false,
        )
      )
        swept.push(path)
    }
  }
  return swept
}

async function removeCgroup(folder: string): Promise<void> {
  const deadline = performance.now() + REMOVE_LIMIT_MS
  for (;;) {
    try {
      await rmdir(folder)
      return
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === "ENOENT") return
      if (code !== "EBUSY" || performance.now() > deadline) throw error
    }
    await killAll(folder)
    await delay(2)
  }
}

async function killAll(folder: string): Promise<void> {
  const text = await readFile(join(folder, "cgroup.procs"), "utf8").catch(() => "")
  for (const pid of text.split("\n").filter((line) => /^[1-9]\d*$/.test(line))) {
    try {
      process.kill(Number(pid), "SIGKILL")
    } catch {
      // It has ended by itself.
    }
  }
}

async function limit(
  version: 1 | 2,
  controller: Controller,
  folder: string,
  limits: PolicyFields["limits"],
): Promise<void> {
  const set = async (file: string, value: string | number): Promise<void> =>
    writeFile(join(folder, file), String(value))
  const quota = Math.round(cpuQuota(limits.cpus) * PERIOD_US)
  const memory = wholePages(limits.memory)
  if (controller === "pids") return set("pids.max", limits.pids + PROCESSES_OUTSIDE)
  if (version === 2) {
    if (controller === "cpu") return set("cpu.max", `${quota} ${PERIOD_US}`)
    await set("memory.max", memory)
    // Missing where the kernel does not count swap.
    return set("memory.swap.max", 0).catch(ignoreMissing)
  }
  if (controller === "cpu") {
    await set("cpu.cfs_period_us", PERIOD_US)
    return set("cpu.cfs_quota_us", quota)
  }
  await set("memory.limit_in_bytes", memory)
  await set("memory.swappiness", 0).catch(ignoreMissing)
  // Memory and swap together: no swap.
  return set("memory.memsw.limit_in_bytes", memory).catch(ignoreMissing)
}

function ignoreMissing(error: unknown): void {
  const { code } = error as NodeJS.ErrnoException
  // A file that is not there cannot be made in this file system.
  if (code !== "ENOENT" && code !== "EACCES" && code !== "EOPNOTSUPP") throw error
}
