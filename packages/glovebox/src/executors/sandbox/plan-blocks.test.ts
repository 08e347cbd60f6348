import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { languageTable } from "../languages.ts"
import { planBlocks } from "./plan-blocks.ts"

const languages = languageTable({ r: { command: ["Rscript", "--vanilla"] } })

describe("planBlocks", () => {
  it("gives each block its file, its content and its command", () => {
    const [python, shell, r] = planBlocks(
      [
        { language: "py", code: "print(1)" },
        { language: "SH", code: "# filename: tools/run.sh\necho ü" },
        { language: "r", code: "1" },
      ],
      languages,
    )
    expect(python).toMatchObject({ tag: "py", named: false, argv: ["python3", python!.file] })
    expect(python!.file).toMatch(/^tmp_code_[0-9a-f]{64}\.py$/)
    expect(Buffer.from(python!.content).toString()).toBe("print(1)")
    expect(shell).toMatchObject({ named: true, file: "tools/run.sh", argv: ["sh", "tools/run.sh"] })
    expect(Buffer.from(shell!.content).toString("utf8")).toBe("# filename: tools/run.sh\necho ü")
    expect(r!.argv).toEqual(["Rscript", "--vanilla", r!.file])
  })

  it("silences pip before it names the file, so that the name is that of what runs", () => {
    const [block, other] = planBlocks(
      [
        { language: "sh", code: "pip install x" },
        { language: "sh", code: "pip install -qqq x" },
      ],
      languages,
    )
    expect(Buffer.from(block!.content).toString()).toBe("pip install -qqq x")
    expect(block!.file).toBe(other!.file)
  })

  it("refuses all blocks when one cannot be run", () => {
    const fine = { language: "python", code: "print(1)" }
    const plan = (block: { language: string; code: string }): string =>
      failureOf(() => planBlocks([fine, block], languages))
    expect(plan({ language: "cobol", code: "1" })).toMatch(/^LANGUAGE_UNKNOWN/)
    expect(plan({ language: "sh", code: "# filename: ../up.sh\n1" })).toMatch(/^CODE_FILE_REFUSED/)
    expect(plan({ language: "sh", code: "# filename: /etc/x\n1" })).toMatch(/^CODE_FILE_REFUSED/)
    expect(plan({ language: "sh", code: "# filename: -c\n1" })).toMatch(/^CODE_FILE_REFUSED/)
  })

  it("plans nothing of nothing", () => {
    expect(planBlocks([], languages)).toEqual([])
  })
})
