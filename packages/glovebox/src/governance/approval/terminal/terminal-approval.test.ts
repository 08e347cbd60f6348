import { describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { SandboxPolicy } from "../../../policy/index.ts"
import { DENY_ALL, WIDE, codeProposal } from "../approval-gate.test-kit.ts"
import {
  ApprovalGate,
  type ApprovalGrant,
  type ApprovalProposal,
  type ApprovalTerminal,
  terminalApproval,
} from "../index.ts"

/** A terminal at which somebody has typed all their answers. */
class TypedTerminal implements ApprovalTerminal {
  readonly columns: number = 80
  readonly fd: "inherit" = "inherit" as const
  readonly questions: string[] = []
  shown = ""
  readonly #typed: string[]

  constructor(typed: readonly string[]) {
    this.#typed = [...typed]
  }

  write(text: string): void {
    this.shown += text
  }

  ask(question: string): Promise<string | undefined> {
    this.questions.push(question)
    return Promise.resolve(this.#typed.shift())
  }

  close(): void {
    throw new Error("it is not ours to close")
  }

  /** What is shown of the payload, put together again. */
  get payload(): string {
    const rows = this.shown.split("\n").map((row) => /^ *(\d+)? ([|:]) (.*)$/.exec(row))
    const first = rows.findIndex((row) => row?.[1] !== undefined)
    return rows
      .slice(first)
      .filter((row) => row !== null)
      .filter(([, number, mark]) => number !== undefined || mark === ":")
      .map(([, , mark, text]) => (mark === "|" ? `\n${text}` : text))
      .join("")
      .slice(1)
  }
}

async function ask(
  terminal: TypedTerminal,
  proposal: ApprovalProposal = codeProposal(),
): Promise<ApprovalGrant> {
  const rules = [{ when: {}, then: "ask" }] as const
  return new ApprovalGate({ provider: terminalApproval({ terminal }), rules }).request(proposal)
}

describe("terminalApproval", () => {
  it("shows who wants what, under which policy, and what that reaches", async () => {
    const terminal = new TypedTerminal(["y"])
    const grant = await ask(terminal, codeProposal("print(1)\n", { risk: "high", context: ["a\nb"] }))
    expect(grant.by).toMatch(/./)
    expect(terminal.shown).toContain("code, risk high, asked for by coder")
    expect(terminal.shown.replaceAll(/\n *: /g, "")).toContain(`policy ${WIDE.sha256} is wider than deny-all`)
    expect(terminal.shown).toContain("example.com:443")
    expect(terminal.shown).toContain("context: a␊b")
    expect(terminal.shown).toContain("python, 1 line\n")
    expect(terminal.payload).toBe("print(1)")
  })

  it("says so when nothing is reached, or nothing is known", async () => {
    const inside = new TypedTerminal(["y"])
    await ask(inside, codeProposal("x", { policy: DENY_ALL }))
    expect(inside.shown).toContain("reaches nothing beyond deny-all")
    const unknown = new TypedTerminal(["y"])
    await ask(unknown, codeProposal("x", { policy: undefined }))
    expect(unknown.shown).toContain("may reach anything")
  })

  it("takes a no with its reason, on the line or after it", async () => {
    await expectFailure(ask(new TypedTerminal(["n not today"])), "APPROVAL_DENIED", /: not today$/)
    await expectFailure(ask(new TypedTerminal(["no", "because"])), "APPROVAL_DENIED", /: because$/)
    await expectFailure(ask(new TypedTerminal(["N", ""])), "APPROVAL_DENIED", /did not approve/)
  })

  it("takes nothing else for a yes, and the end of the input for a no", async () => {
    const terminal = new TypedTerminal(["", "yess", "ok", "1", "approve"])
    await expectFailure(ask(terminal), "APPROVAL_DENIED", /input ended/)
    expect(terminal.questions).toHaveLength(6)
  })

  it("makes escapes, bidirectional and invisible characters visible, everywhere", async () => {
    const evil = "\u001b[2J\u001b]0;x\u0007\u202e\u200b\u2066\r\u0000\u{e0041}\u009b"
    const policy = new SandboxPolicy({ env: { KEY: `v${evil}`.replaceAll("\u0000", "") } })
    const proposals: ApprovalProposal[] = [
      codeProposal(`a${evil}b`, { agent: `agent${evil}`, context: [evil], policy }),
      codeProposal("", { payload: { codeBlocks: [{ code: "x", language: `py${evil}`, file: evil }] } }),
      { kind: "tool", payload: { tool: `t${evil}`, arguments: { [evil]: evil } }, agent: "a" },
      { kind: "policy", payload: { from: DENY_ALL.toJSON(), to: policy.toJSON() }, agent: "a" },
    ]
    for (const proposal of proposals) {
      const terminal = new TypedTerminal(["y"])
      await ask(terminal, proposal)
      const text = terminal.shown + terminal.questions.join("")
      expect(text).not.toMatch(/[^\P{C}\n]/u)
      expect(text).not.toContain("\r")
    }
  })

  it("tells two names apart that look the same, and a blank from what only looks like one", async () => {
    const terminal = new TypedTerminal(["y"])
    await ask(terminal, codeProposal("key1\ufe0f = key1\nrm\u00a0-rf"))
    expect(terminal.shown).toContain("key1<U+FE0F> = key1")
    expect(terminal.shown).toContain("rm<U+00A0>-rf")
  })

  it("marks every row, so that code cannot pass for what we say", async () => {
    const fake = "Allow it? y(es), n(o) with a reason, e(dit): "
    const terminal = new TypedTerminal(["y"])
    await ask(terminal, codeProposal(`${" ".repeat(80)}${fake}\n${"漢".repeat(90)}\n${fake}\n\t\tx`))
    const rows = terminal.shown.split("\n").filter((row) => row !== "")
    for (const row of rows) expect(row).toMatch(/^ *\d* [|:] /)
    const wide = (row: string): number =>
      Array.from(row).reduce((sum, one) => sum + (one > "\u1100" ? 2 : 1), 0)
    expect(Math.max(...rows.map(wide))).toBeLessThan(80)
  })

  it("shows a megabyte in parts, all of it, before it can be allowed", async () => {
    const code = Array.from({ length: 10_000 }, (_none, index) => `print(${index}) # ${"x".repeat(90)}`).join(
      "\n",
    )
    const terminal = new TypedTerminal(["y", "", "yes", "a", "y"])
    await ask(terminal, codeProposal(code))
    expect(
      terminal.questions.slice(0, 4).every((question) => /\d+ of \d+ rows are left/.test(question)),
    ).toBe(true)
    expect(terminal.shown).toContain("It can be allowed when all of it was shown.")
    expect(terminal.payload === code).toBe(true)
  })

  it("shows one line of a megabyte whole, and huge arguments", async () => {
    const line = `x = "${"A".repeat(1_000_000)}END"`
    const terminal = new TypedTerminal(["all", "y"])
    await ask(terminal, codeProposal(line))
    expect(terminal.payload === line).toBe(true)
    const args = { list: Array.from({ length: 2000 }, (_none, index) => `item ${index}`) }
    const other = new TypedTerminal(["a", "y"])
    await ask(other, { kind: "tool", payload: { tool: "t", arguments: args }, agent: "a" })
    expect(JSON.parse(other.payload)).toEqual(args)
  })

  it("can be denied before all of it was shown", async () => {
    const terminal = new TypedTerminal(["n", "too long"])
    await expectFailure(ask(terminal, codeProposal("x\n".repeat(1000))), "APPROVAL_DENIED", /too long/)
    const ended = new TypedTerminal([])
    await expectFailure(ask(ended, codeProposal("x\n".repeat(1000))), "APPROVAL_DENIED")
  })

  it("asks one thing at a time", async () => {
    const open: string[] = []
    const terminal = new TypedTerminal([])
    terminal.ask = async (question) => {
      open.push("asked")
      await new Promise((resolve) => setImmediate(resolve))
      open.push("answered")
      return question === "" ? undefined : "y"
    }
    const gate = new ApprovalGate({ provider: terminalApproval({ terminal }) })
    await Promise.all([1, 2, 3].map((number) => gate.request(codeProposal(`print(${number})`))))
    expect(open).toEqual(["asked", "answered", "asked", "answered", "asked", "answered"])
  })

  it("denies where there is no terminal", async () => {
    for (const path of ["/dev/null", "/nowhere/tty"]) {
      const gate = new ApprovalGate({ provider: terminalApproval({ path }) })
      await expectFailure(gate.request(codeProposal()), "APPROVAL_DENIED", /no terminal to ask on/)
    }
  })
})
