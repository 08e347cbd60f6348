import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const run = promisify(execFile)
const SCRIPT = fileURLToPath(new URL("../../../../../../scripts/engine", import.meta.url))

/** A second engine on this machine, with its own data, socket and image, which a test can kill. */
export class SecondEngine {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  static async open(): Promise<SecondEngine> {
    const engine = new SecondEngine(await mkdtemp(join(tmpdir(), "gb-fleet-")))
    await engine.start()
    return engine
  }

  get address(): string {
    return `unix://${join(this.#folder, "state/docker.sock")}`
  }

  async start(): Promise<void> {
    await this.#script("--json")
  }

  async signal(name: "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void> {
    process.kill(Number(await readFile(join(this.#folder, "state/docker.pid"), "utf8")), name)
  }

  /** Docker's own command, at this engine. */
  async command(...args: string[]): Promise<string> {
    return dockerAt(this.address, ...args)
  }

  async close(): Promise<void> {
    await this.#script("stop").catch(() => "")
    await this.#endOrphans()
    await rm(this.#folder, { recursive: true, force: true })
  }

  // An engine that was killed leaves those who watch its containers, and with them what ran there.
  async #endOrphans(): Promise<void> {
    const { stdout } = await run("ps", ["-eo", "pid=,ppid=,args="])
    const all = stdout.split("\n").map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [])
    const left = new Set(
      all.filter(([, , , args]) => args?.includes(`${this.#folder}/`)).map(([, pid]) => pid),
    )
    for (const [, pid, parent] of all) {
      if (pid === undefined || !(left.has(pid) || left.has(parent))) continue
      try {
        process.kill(Number(pid), "SIGKILL")
      } catch {
        // It has ended by itself.
      }
    }
  }

  async #script(...args: string[]): Promise<void> {
    const { DOCKER_HOST: _host, DOCKER_CONTEXT: _context, ...rest } = process.env
    await run(SCRIPT, args, { env: { ...rest, GLOVEBOX_ENGINE_STATE: join(this.#folder, "state") } })
  }
}

export async function dockerAt(address: string, ...args: string[]): Promise<string> {
  const { stdout } = await run("docker", ["--host", address, ...args])
  return stdout.trim()
}

/** The names of a tenant's containers at an engine, in whatever state. */
export async function containersOf(address: string, tenant: string): Promise<string[]> {
  const filter = `label=org.glovebox.tenant=${tenant}`
  const names = await dockerAt(address, "ps", "-a", "--filter", filter, "--format", "{{.Names}}")
  return names.split("\n").filter(Boolean)
}
