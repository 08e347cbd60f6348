import { chmod, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { ApprovalProcess } from "./approval-process.test-kit.ts"
import { answerApproval, listApprovals } from "./index.ts"

let folder = ""

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-approval-"))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

/** Asks under a file queue, goes on from a saved state, and says what became of it. */
function worker(code: string): string {
  return `
    import { existsSync, readFileSync, writeFileSync } from "node:fs"
    const folder = ${JSON.stringify(folder)}
    const gate = new approval.ApprovalGate({ provider: new approval.FileApprovalQueue({ folder: folder + "/queue" }), suspend: true })
    if (existsSync(folder + "/state.json")) gate.loadState(JSON.parse(readFileSync(folder + "/state.json", "utf8")))
    try {
      const grant = await gate.request(proposal(${JSON.stringify(code)}))
      await grant.use(grant.payload)
      console.log("ran " + grant.payload.codeBlocks[0].code + " by " + grant.by)
    } catch (error) {
      if (error.code === "APPROVAL_PENDING") writeFileSync(folder + "/state.json", JSON.stringify(await gate.saveState()))
      console.log(error.code + " " + error.requestId)
    }
  `
}

describe("an approval over several processes", () => {
  it("is asked for in one, given in another, and used once in a third", async () => {
    const queue = join(folder, "queue")
    const first = new ApprovalProcess(worker("print(1)"))
    const { 0: line } = /APPROVAL_PENDING .*/.exec(await first.until("\n")) ?? [""]
    expect(await first.ended).toBe(0)
    const id = line.split(" ")[1] ?? ""

    const again = new ApprovalProcess(worker("print(1)"))
    await again.until(`APPROVAL_PENDING ${id}`)
    expect(await again.ended).toBe(0)
    expect(await readdir(queue)).toHaveLength(1)

    const answering = new ApprovalProcess(`
      const [request] = await approval.listApprovals(${JSON.stringify(queue)})
      await approval.answerApproval(${JSON.stringify(queue)}, request.id, { decision: "approve", by: "ann", sha256: request.sha256 })
    `)
    expect(await answering.ended).toBe(0)

    const racing = [1, 2, 3].map(() => new ApprovalProcess(worker("print(1)")))
    await Promise.all(racing.map(({ ended }) => ended))
    const said = racing.map(({ seen }) => seen.trim())
    expect(said.filter((text) => text === "ran print(1) by ann")).toHaveLength(1)
    expect(said.filter((text) => text.startsWith("APPROVAL_USED"))).toHaveLength(2)
  })

  it("survives the death of whoever waits, and is found by who comes after", async () => {
    const queue = join(folder, "queue")
    const waiting = new ApprovalProcess(`
      import { writeFileSync } from "node:fs"
      const gate = new approval.ApprovalGate({ provider: new approval.FileApprovalQueue({ folder: ${JSON.stringify(queue)} }) })
      gate.request(proposal("print(2)"))
      while ((await approval.listApprovals(${JSON.stringify(queue)})).length === 0);
      writeFileSync(${JSON.stringify(join(folder, "state.json"))}, JSON.stringify(await gate.saveState()))
      console.log("saved")
    `)
    await waiting.until("saved")
    waiting.kill()
    expect(await waiting.ended).toBe("SIGKILL")
    const [request] = await listApprovals(queue)
    await answerApproval(queue, request?.id ?? "", { decision: "approve", by: "bob" })
    const after = new ApprovalProcess(worker("print(2)"))
    await after.until("ran print(2) by bob")
    expect(await after.ended).toBe(0)
  })
})

describe("terminalApproval on a terminal of its own", () => {
  const PROGRAM = `
    const gate = new approval.ApprovalGate({ provider: approval.terminalApproval() })
    for (const code of JSON.parse(process.env.CODES)) {
      try {
        const grant = await gate.request(proposal(code))
        await grant.use(grant.payload)
        console.log("RAN " + JSON.stringify(grant.payload.codeBlocks[0].code))
      } catch (error) {
        console.log(error.code + " because " + error.reason)
      }
    }
  `
  const start = (codes: readonly string[], env: NodeJS.ProcessEnv = {}): ApprovalProcess =>
    new ApprovalProcess(PROGRAM, { onTerminal: true, env: { CODES: JSON.stringify(codes), ...env } })

  it("asks although stdin is no terminal, one after the other, and leaves", async () => {
    const program = start(["print(1)", "print(2)", "print(3)"])
    const shown = await program.until("e(dit): ")
    expect(shown).toContain("1 | print(1)")
    expect(shown).toContain("example.com:443")
    program.write("y\n")
    await program.until(`RAN "print(1)"`)
    await program.until("e(dit): ")
    program.write("n too risky\n")
    await program.until("APPROVAL_DENIED because too risky")
    await program.until("e(dit): ")
    program.write("\u0004")
    await program.until("APPROVAL_DENIED because The input ended.")
    expect(await program.ended).toBe(0)
  })

  it("shows nothing that the terminal would act on", async () => {
    const program = start(["a\u001b[2J\u202eb\u009b\u0007c"])
    const shown = await program.until("e(dit): ")
    expect(shown).toContain("a␛[2J<U+202E>b<U+009B>␇c")
    expect(shown).not.toContain("\u001b[2J")
    program.write("n no\n")
    expect(await program.ended).toBe(0)
  })

  it("has code edited in a private file, shows it again, and runs what was edited", async () => {
    const editor = join(folder, "editor.sh")
    const seen = join(folder, "seen")
    await writeFile(
      editor,
      `#!/bin/sh\nstat -c '%a' "$1" "$(dirname "$1")" > ${seen}\ntest -t 0 && printf 'print(42)' > "$1"\n`,
    )
    await chmod(editor, 0o700)
    const program = start(["print(1)"], { VISUAL: editor })
    await program.until("e(dit): ")
    program.write("e\n")
    const again = await program.until("e(dit): ")
    expect(again).toContain("as you have edited it")
    expect(again).toContain("1 | print(42)")
    program.write("y\n")
    await program.until(`RAN "print(42)"`)
    expect(await program.ended).toBe(0)
    expect(await readFile(seen, "utf8")).toBe("600\n700\n")
  })

  it("asks again when the editor fails", async () => {
    const program = start(["print(1)"], { VISUAL: "false" })
    await program.until("e(dit): ")
    program.write("e\n")
    await program.until("It was not edited: false ended with 1")
    await program.until("e(dit): ")
    program.write("y\n")
    await program.until(`RAN "print(1)"`)
    expect(await program.ended).toBe(0)
  })
})
