/* oxlint-disable unicorn/no-thenable -- here `then` is a word, which no await takes for a promise */
import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { ApprovalGate, type ApprovalProposal, type ApprovalTerminal } from "../../governance/index.ts"
import { type PolicyInput, SandboxPolicy } from "../../policy/index.ts"
import type { Config } from "../config/load-config.ts"
import type { ApprovalChoice } from "./approval-choice.ts"
import { checkApproval } from "./check-approval.ts"
import { CodeApproval } from "./code-approval.ts"

const NONE: Config = { file: undefined, isNamed: false, policy: undefined }
const FOUND: Config = { file: "c.yaml", isNamed: false, policy: undefined }
const WIDE = { network: { allow: ["example.com:443"] } }

interface Case {
  readonly asked?: ApprovalChoice
  readonly config?: Config
  /** What a person at the terminal types; nobody is there without. */
  readonly types?: readonly string[]
}

class Bench {
  readonly notes: string[] = []
  readonly shown: string[] = []
  readonly approval: CodeApproval
  readonly gate: ApprovalGate
  readonly #case: Case

  constructor(given: Case) {
    this.#case = given
    const { asked, config = NONE } = given
    const note = (line: string): void => void this.notes.push(line)
    this.approval = new CodeApproval({ asked, config, terminal: this.#terminal(), note })
    this.gate = new ApprovalGate(this.approval.gate)
  }

  check(policy: PolicyInput): void {
    const { asked, config = NONE } = this.#case
    const { approval, gate } = this
    checkApproval({ approval, gate, config, policy: new SandboxPolicy(policy), agent: "a", asked })
  }

  async run(policy: PolicyInput, code = "print(1)"): Promise<string> {
    const payload = { codeBlocks: [{ code, language: "python" }] }
    const proposal: ApprovalProposal<"code"> = {
      kind: "code",
      payload,
      agent: "a",
      policy: new SandboxPolicy(policy),
    }
    return this.gate.request(proposal).then(
      ({ by, basis }) => `runs by ${by ?? basis.by}`,
      (error: unknown) => String(error),
    )
  }

  #terminal(): ApprovalTerminal | undefined {
    const { types } = this.#case
    const left = [...(types ?? [])]
    return (
      types && {
        columns: 80,
        fd: "inherit",
        write: (text) => void this.shown.push(text),
        ask: async () => left.shift(),
        close: () => {},
      }
    )
  }
}

describe("CodeApproval", () => {
  it("lets code run unasked behind deny-all, and asks where it reaches more", async () => {
    const bench = new Bench({ types: ["n", "no"] })
    expect(await bench.run({})).toBe("runs by default")
    expect(await bench.run({ limits: { wall: "1h", memory: "4GiB" }, image: "other:1" })).toBe(
      "runs by default",
    )
    expect(bench.shown).toEqual([])
    expect(await bench.run(WIDE)).toMatch(/was not approved: no$/)
    expect(bench.shown.join("")).toContain("example.com:443")
  })

  it("asks about each run, also behind deny-all, where that is said", async () => {
    expect(await new Bench({ asked: "ask", types: ["n", "because"] }).run({})).toMatch(/because$/)
    expect(await new Bench({ config: { ...FOUND, approve: "ask" }, types: ["n", "b"] }).run({})).toMatch(/b$/)
  })

  it("answers for the user who said always or never, and says who did", async () => {
    expect(await new Bench({ asked: "always" }).run(WIDE)).toBe("runs by --approve always")
    const named = { ...FOUND, isNamed: true, approve: "always" } as const
    expect(await new Bench({ config: named }).run(WIDE)).toBe("runs by approve: always in c.yaml")
    const never = new Bench({ asked: "never", config: named })
    expect(await never.run({})).toMatch(/No code may run here/)
    expect(never.notes).toEqual(["code was not run: --approve never"])
  })

  it("denies what the configuration's rules deny, whatever the command line says", async () => {
    const config: Config = { ...FOUND, approval: { rules: [{ when: { language: "python" }, then: "deny" }] } }
    expect(await new Bench({ config, asked: "always" }).run({})).toMatch(/was not approved: Rule 1 denies it/)
  })

  it("takes never and ask on the command line for more than what a file allows", async () => {
    const config: Config = {
      ...FOUND,
      isNamed: true,
      approval: { rules: [{ when: { kind: "code" }, then: "allow" }] },
    }
    expect(await new Bench({ config }).run(WIDE)).toBe("runs by rule")
    expect(await new Bench({ config, asked: "never" }).run({})).toMatch(/No code may run here/)
    expect(await new Bench({ config, asked: "ask", types: ["n", "seen"] }).run({})).toMatch(/seen$/)
  })

  it("shows all of what it asks about, also what looks like a secret", async () => {
    const bench = new Bench({ asked: "ask", types: ["y"] })
    const code = "password = 'x9f8e7d6c5b4a3f2e1d0'; exec(password)"
    expect(await bench.run({}, code)).toMatch(/^runs by /)
    expect(bench.shown.join("")).toContain(code)
  })
})

describe("checkApproval", () => {
  it("refuses when it must ask and nobody is there", () => {
    expect(() => new Bench({}).check(WIDE)).toThrow(
      /wider than deny-all \(network: allow example\.com:443\).*no terminal to ask on/,
    )
    expect(() => new Bench({ asked: "ask" }).check({})).toThrow(/no terminal to ask on/)
    for (const [given, policy] of [
      [{}, {}],
      [{ asked: "never" }, WIDE],
      [{ asked: "always" }, WIDE],
      [{ types: [] }, WIDE],
    ] as const) {
      expect(() => new Bench(given).check(policy)).not.toThrow()
    }
  })

  it("does not let a file that was only found open the sandbox and run code unasked", () => {
    const config = { ...FOUND, approve: "always" } as const
    expect(failureOf(() => new Bench({ config }).check(WIDE))).toMatch(
      /^CONFIG_INVALID: c\.yaml, which was found/,
    )
    expect(() => new Bench({ config: { ...config, isNamed: true } }).check(WIDE)).not.toThrow()
    expect(() => new Bench({ config }).check({})).not.toThrow()
  })
})
