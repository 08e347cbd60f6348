import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { SandboxPolicy } from "../../policy/index.ts"
import { refuseWritableLog } from "./refuse-writable-log.ts"

let folder = ""
const at = (path: string): string => join(folder, path)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-writable-"))
  await mkdir(at("work/.glovebox"), { recursive: true })
  await mkdir(at("elsewhere"))
  await symlink(at("work"), at("link"))
  await symlink(at("work/.glovebox"), at("inner"))
})
afterAll(async () => rm(folder, { recursive: true }))

const refused = async (log: string, workDir?: string, mount?: "ro" | "rw"): Promise<boolean> => {
  const mounts = mount ? [{ source: at("work"), target: "/data", mode: mount }] : []
  const places = {
    workDir: workDir === undefined ? undefined : at(workDir),
    policy: new SandboxPolicy({ mounts }),
  }
  return refuseWritableLog(at(log), places).then(
    () => false,
    (error: unknown) => String(error).includes("--audit <file>"),
  )
}

it("refuses a log in a folder that is carried, but for what never is, by where links lead", async () => {
  expect(await refused("work/log.jsonl", "work")).toBe(true)
  expect(await refused("work/new/log.jsonl", "link")).toBe(true)
  expect(await refused("link/log.jsonl", "work")).toBe(true)
  expect(await refused("work/.glovebox/audit.jsonl", "inner")).toBe(true)
  expect(await refused("work/.glovebox/audit.jsonl", "work")).toBe(false)
  expect(await refused("work/.glovebox/audit.jsonl", "elsewhere")).toBe(false)
  expect(await refused("elsewhere/log.jsonl", "work")).toBe(false)
  expect(await refused("work/log.jsonl")).toBe(false)
})

it("refuses a log in a folder that code may write to", async () => {
  expect(await refused("work/.glovebox/audit.jsonl", undefined, "rw")).toBe(true)
  expect(await refused("work/.glovebox/audit.jsonl", undefined, "ro")).toBe(false)
  expect(await refused("elsewhere/log.jsonl", undefined, "rw")).toBe(false)
})
