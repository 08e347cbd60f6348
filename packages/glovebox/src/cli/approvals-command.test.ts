import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { ApprovalGate, FileApprovalQueue } from "../governance/index.ts"
import { main } from "./main.ts"

let folder = ""
let out = ""
let err = ""

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "glovebox-approvals-")), "asked")
  out = ""
  err = ""
  vi.spyOn(process.stdout, "write").mockImplementation((text) => (out += String(text)) !== "")
  vi.spyOn(process.stderr, "write").mockImplementation((text) => (err += String(text)) !== "")
})
afterEach(async () => {
  vi.restoreAllMocks()
  await rm(join(folder, ".."), { recursive: true })
})

const approvals = async (...args: string[]): Promise<number> => {
  out = ""
  return main(["node", "glovebox", "approvals", ...args, "--folder", folder])
}

/** Code that waits in the folder. */
function asked(code: string): Promise<unknown> {
  const gate = new ApprovalGate({ provider: new FileApprovalQueue({ folder }) })
  const codeBlocks = [{ language: "python", code }]
  return gate.request({ kind: "code", agent: "coder", payload: { codeBlocks } }).then(
    () => "approved",
    (error: unknown) => error,
  )
}

it("shows what waits, with nothing hidden, and answers it once", async () => {
  const answered = asked("print(1) # \u202Eevil")
  await vi.waitFor(async () => {
    await approvals("list")
    expect(out).toContain("asked for by coder")
  })
  expect(out).not.toContain("\u202E")
  await approvals("list", "--json")
  const [{ id, sha256 }] = JSON.parse(out) as [{ id: string; sha256: string }]
  expect(await approvals("answer", id, "approve", "--sha256", "0".repeat(64))).toBe(2)
  expect(await approvals("answer", id, "maybe")).toBe(2)
  expect(await approvals("answer", id)).toBe(2)
  expect(err).toContain("There is no terminal to ask on")
  expect(await approvals("answer", id, "approve", "--sha256", sha256)).toBe(0)
  expect(await answered).toBe("approved")
  expect(await approvals("answer", id, "deny")).toBe(1)
  expect(await approvals("list")).toBe(0)
  expect(out).toBe("Nothing waits for an answer.\n")
})

it("tells whoever asked why it is denied", async () => {
  const answered = asked("print(1)")
  let id = ""
  await vi.waitFor(async () => {
    await approvals("list", "--json")
    id = (JSON.parse(out) as [{ id: string }])[0].id
  })
  expect(await approvals("answer", id, "deny", "--reason", "not today")).toBe(0)
  expect(await answered).toMatchObject({
    code: "APPROVAL_DENIED",
    message: expect.stringContaining("not today") as string,
  })
})

it("makes no folder where there is none", async () => {
  expect(await approvals("list")).toBe(2)
  expect(err).toContain("There is no folder")
})
