import { spawnSync } from "node:child_process"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "vitest"
import { AuditFolder } from "./audit/audit-folder.test-kit.ts"
import { Governance, verifyAuditLog } from "./index.ts"

const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href)

/** A process that is killed after a tool had its effect, and before anybody could write that down. */
function dieInEffect(log: string, effect: string): NodeJS.Signals | null {
  const source = `
    import { writeFileSync } from "node:fs"
    import { z } from "zod"
    import { Governance } from ${url("index.ts")}
    import { staticWorkbench, tool } from ${url("../tools/index.ts")}
    const send = tool({
      name: "send",
      description: "Sends",
      parameters: z.object({}),
      execute: () => {
        writeFileSync(${JSON.stringify(effect)}, "sent")
        process.kill(process.pid, "SIGKILL")
      },
    })
    const governance = new Governance({ audit: { path: ${JSON.stringify(log)} } })
    await governance.agent("clerk").workbench(staticWorkbench([send])).callTool("send")`
  const args = [
    "--import",
    import.meta.resolve("tsx"),
    "--conditions=@glovebox/source",
    "--input-type=module",
  ]
  return spawnSync(process.execPath, [...args, "-e", source], { stdio: "inherit" }).signal
}

it("shows what was begun by a process that was killed before it could say how it ended", async () => {
  await using folder = await AuditFolder.make()
  const effect = join(folder.folder, "effect")
  expect(dieInEffect(folder.path, effect)).toBe("SIGKILL")
  expect(await readFile(effect, "utf8")).toBe("sent")
  const calls = (await folder.records()).filter(({ kind }) => kind === "tool-call")
  expect(calls.map(({ data }) => data["phase"])).toEqual(["intent"])

  // The next one goes on with the same chain.
  await using governance = new Governance({ audit: { path: folder.path } })
  await governance.record({ kind: "custom", data: { name: "next" } })
  expect(await verifyAuditLog(folder.path)).toMatchObject({ ok: true })
})
