import type { ProbeReport, VerifyReport } from "./verify-report.ts"

/** The report as JUnit XML, as build servers read it: a suite for each family, a case for each probe. */
export function formatJunit(report: VerifyReport): string {
  const families = [...new Set(report.probes.map(({ family }) => family))]
  const suites = families.map((family) =>
    suite(
      family,
      report.probes.filter((probe) => probe.family === family),
      report,
    ),
  )
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuites name="glovebox verify" ${counts(report.probes)} time="${(report.durationMs / 1000).toFixed(3)}">`,
    ...suites,
    "</testsuites>",
    "",
  ].join("\n")
}

function suite(family: string, probes: readonly ProbeReport[], report: VerifyReport): string {
  const { policySha256, imageDigest, kernel, runtime, engine, path, sandbox, date } = report
  const facts = { policySha256, imageDigest, kernel, runtime, engine, path, sandbox }
  const properties = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `      <property name="${name}" value="${escape(String(value))}"/>`)
  return [
    `  <testsuite name="${escape(family)}" ${counts(probes)} timestamp="${escape(date.replace(/\.\d+Z$/, ""))}">`,
    "    <properties>",
    ...properties,
    "    </properties>",
    ...probes.map(testCase),
    "  </testsuite>",
  ].join("\n")
}

function testCase({ id, family, title, expected, observed, pass, evidence }: ProbeReport): string {
  const open = `    <testcase name="${escape(`${id}: ${title}`)}" classname="${escape(family)}"`
  if (pass) return `${open}/>`
  const kind = observed === "ERROR" ? "error" : "failure"
  const message = `${observed} where ${expected} is expected`
  return [
    `${open}>`,
    `      <${kind} message="${escape(message)}" type="${observed}">${escape(evidence)}</${kind}>`,
    "    </testcase>",
  ].join("\n")
}

function counts(probes: readonly ProbeReport[]): string {
  const wrong = probes.filter(({ pass }) => !pass)
  const errors = wrong.filter(({ observed }) => observed === "ERROR").length
  return `tests="${probes.length}" failures="${wrong.length - errors}" errors="${errors}"`
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
}

// What XML cannot say at all, in no form of it, is left out.
function escape(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\u{fffd}")
    .replaceAll(/[&<>"']/g, (letter) => ESCAPES[letter] ?? letter)
}
