import { describe, expect, it } from "vitest"
import { type PolicyInput, SandboxPolicy } from "../policy/index.ts"
import { describeSandbox } from "./mcp-sandbox.ts"

describe("describeSandbox", () => {
  it.each<[PolicyInput["network"], string, boolean]>([
    ["none", "There is no network.", false],
    [{ allow: ["pypi.org:443"] }, "The network reaches pypi.org:443, and nothing else.", true],
    [{ dangerously: "bridge" }, "The network is open", true],
  ])("tells what the network %j is", (network, text, hasNetwork) => {
    const told = describeSandbox("docker", new SandboxPolicy({ network }), "run")
    expect(told.about).toContain(text)
    expect(told.hasNetwork).toBe(hasNetwork)
  })
})
