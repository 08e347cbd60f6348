import { describe, expect, it } from "vitest"
import { isDenied } from "./is-denied.ts"

describe("isDenied", () => {
  it.each([
    ["access-denied", { subject: "x", target: "y" }],
    ["approval", { phase: "decision", decision: "expired" }],
    ["egress", { state: "denied", verdict: "denied" }],
    ["tool-call", { phase: "done", isError: true }],
    ["model-call", { phase: "failed" }],
    ["code-run", { phase: "done", exitCode: 1, termination: "exit" }],
    ["code-run", { phase: "done", exitCode: 0, termination: "exit", limitsHit: ["output"] }],
    ["run-end", { outcome: "failed" }],
    ["sandbox", { event: "lost" }],
    ["message-filtered", { action: "block" }],
    ["log", { event: "write-recovered", refused: 3 }],
  ])("sees it in %s %j", (kind, data) => {
    expect(isDenied({ kind, data })).toBe(true)
  })

  it.each([
    ["approval", { phase: "decision", decision: "edited" }],
    ["egress", { state: "closed", verdict: "allowed" }],
    ["code-run", { phase: "done", exitCode: 0, termination: "exit", limitsHit: [] }],
    ["message-filtered", { action: "flag" }],
    ["custom", { name: "x", event: "failed" }],
  ])("does not see it in %s %j", (kind, data) => {
    expect(isDenied({ kind, data })).toBe(false)
  })
})
