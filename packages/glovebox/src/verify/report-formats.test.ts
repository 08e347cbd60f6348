import { describe, expect, it } from "vitest"
import { formatJunit } from "./format-junit.ts"
import { formatTable } from "./format-table.ts"
import type { ProbeReport, VerifyReport } from "./verify-report.ts"
import { withControl } from "./verify.ts"

const held: ProbeReport = {
  id: "fs.write-root",
  family: "filesystem",
  title: "write a file",
  expected: "BLOCKED",
  observed: "BLOCKED",
  pass: true,
  evidence: "EROFS",
}
const open: ProbeReport = {
  ...held,
  id: "net.public",
  family: "network",
  observed: "ALLOWED",
  pass: false,
  evidence: `a <way> & "more" ]]> \u001b[2J`,
}
const broken: ProbeReport = { ...held, id: "net.raw", family: "network", observed: "ERROR", pass: false }

function report(probes: readonly ProbeReport[]): VerifyReport {
  return {
    policySha256: "ab".repeat(32),
    imageDigest: "sha256:1234",
    kernel: "6.1.0",
    runtime: "runc",
    engine: "Docker 27.3",
    path: "cold",
    sandbox: "docker",
    image: "python:3-slim",
    mode: "standard",
    date: "2026-01-02T03:04:05.678Z",
    durationMs: 1234,
    pass: probes.every(({ pass }) => pass),
    probes,
  }
}

describe("the table", () => {
  it("has what a reviewer asks for: policy, image, kernel, runtime, engine, date, and each probe", () => {
    const table = formatTable(report([held]))
    for (const part of [
      "ab".repeat(32),
      "sha256:1234",
      "6.1.0",
      "runc",
      "Docker 27.3",
      "2026-01-02T03:04:05",
      "docker, cold",
    ]) {
      expect(table).toContain(part)
    }
    expect(table).toMatch(/^ok {4}fs\.write-root {2}BLOCKED {3}BLOCKED {3}EROFS$/m)
    expect(table).toMatch(/^ {6}probe {10}expected {2}observed {2}evidence$/m)
    expect(table.split("\n").at(-1)).toBe("All 1 probes as the policy expects (1.2 s).")
  })

  it("says what was tried where it is not as expected, and names those at the end", () => {
    const table = formatTable(report([held, open, broken]))
    expect(table).toMatch(/^FAIL {2}net\.public/m)
    expect(table).toContain("write a file")
    expect(table.split("\n").at(-1)).toBe(
      "2 of 3 probes not as the policy expects (1.2 s): net.public ALLOWED, net.raw ERROR.",
    )
  })

  it("lets nothing through that a terminal acts on", () => {
    expect(formatTable(report([open]))).not.toContain("\u001b")
  })

  it("says of a full run how many controls work, and why one does not", () => {
    const table = formatTable(
      report([
        withControl(held, { observed: "BLOCKED", evidence: "no hole" }),
        { ...held, control: "works" },
      ]),
    )
    expect(table).toContain("its control is broken: BLOCKED: no hole")
    expect(table).toContain("1 of 2 controls work")
  })
})

describe("JUnit", () => {
  it("has a suite for each family and a case for each probe, with what is wrong", () => {
    const xml = formatJunit(report([held, open, broken]))
    expect(xml).toContain(
      `<testsuites name="glovebox verify" tests="3" failures="1" errors="1" time="1.234">`,
    )
    expect(xml).toContain(`<testsuite name="network" tests="2" failures="1" errors="1"`)
    expect(xml).toContain(`<testcase name="fs.write-root: write a file" classname="filesystem"/>`)
    expect(xml).toContain(`<property name="imageDigest" value="sha256:1234"/>`)
    expect(xml).toContain(`message="ALLOWED where BLOCKED is expected"`)
  })

  it("escapes what XML would read, and leaves out what it cannot say", () => {
    const xml = formatJunit(report([open]))
    expect(xml).toContain(`>a &lt;way&gt; &amp; &quot;more&quot; ]]&gt; \u{fffd}[2J</failure>`)
    expect(xml).not.toContain("\u001b")
  })
})

describe("a control", () => {
  it("that works leaves what was observed", () => {
    expect(withControl(held, { observed: "ALLOWED", evidence: "it works" })).toEqual({
      ...held,
      control: "works",
      controlEvidence: "it works",
    })
  })

  it("that does not work takes from a probe what it seemed to show, and from no other", () => {
    for (const observed of ["BLOCKED", "INCONCLUSIVE", "ERROR"] as const) {
      const control = { observed, evidence: "why" }
      expect(withControl(held, control)).toMatchObject({
        observed: "INCONCLUSIVE",
        pass: false,
        control: "broken",
      })
      expect(withControl(open, control)).toMatchObject({ observed: "ALLOWED", pass: false })
    }
  })
})
