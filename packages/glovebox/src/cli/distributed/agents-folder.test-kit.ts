import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { z } from "zod"
import { defineMessage } from "../../core/index.ts"

const modules = fileURLToPath(new URL("../../../../../node_modules", import.meta.url))

/** Work that ends when a file is there. */
export const Work = defineMessage("Work", z.object({ until: z.string() }))
export const Done = defineMessage("Done", z.object({ by: z.string() }))

const AGENTS = `
import { existsSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { RoutedAgent, defineMessage } from "glovebox/core"
import { z } from "zod"

const Work = defineMessage("Work", z.object({ until: z.string() }))
const Done = defineMessage("Done", z.object({ by: z.string() }))

class Slow extends RoutedAgent {
  constructor() {
    super("Works until a file is there.")
    this.on(Work, async ({ until }) => {
      console.error("begun")
      while (!existsSync(until)) await sleep(10)
      return Done({ by: String(process.pid) })
    })
  }
}

// What a module leaves open must not keep the worker from ending.
setInterval(() => {}, 1000)

export async function register(runtime) {
  await runtime.register("slow", () => new Slow())
  let isDrained = false
  return {
    drain() {
      isDrained = true
      console.error("asked to drain")
    },
    async [Symbol.asyncDispose]() {
      if (isDrained) console.error("put away")
    },
  }
}
`

/** A folder as a user has one, with a module of agents and packages. */
export class AgentsFolder implements AsyncDisposable {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  static async make(): Promise<AgentsFolder> {
    const folder = new AgentsFolder(await mkdtemp(join(tmpdir(), "glovebox-agents-")))
    await symlink(modules, folder.file("node_modules"))
    await folder.write("agents.mjs", AGENTS)
    return folder
  }

  file(name: string): string {
    return join(this.path, name)
  }

  async write(name: string, text: string): Promise<string> {
    await writeFile(this.file(name), text)
    return this.file(name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true })
  }
}
