import { describe, expect, it } from "vitest"
import { configOf, roundTrip } from "../../core/components/round-trip.test-kit.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { ComponentRegistry } from "../../core/index.ts"
import { WasmCodeExecutor } from "../../executors/wasm/index.ts"
import { StaticWorkbench, toolComponents } from "../index.ts"
import { codeExecutionTool, codeExecutionToolComponent } from "./index.ts"

const registry = new ComponentRegistry([
  codeExecutionToolComponent,
  WasmCodeExecutor.definition,
  ...toolComponents,
])

describe("a code execution tool in data", () => {
  it("is made again with its executor, and asks as it did", async () => {
    await using executor = new WasmCodeExecutor({ timeout: "7s" })
    const languages: [string, ...string[]] = ["python", "javascript"]
    const made = roundTrip(
      registry,
      codeExecutionTool({
        executor,
        languages,
        name: "run",
        description: "Runs",
        approval: true,
        risk: "high",
      }),
    )
    expect(configOf(made)).toMatchObject({
      executor: { config: { policy: { limits: { wall: 7_000 } } } },
      languages,
      approval: true,
    })
    expect(await made.needsApproval({ code: "1", language: "python" })).toBe(true)
    expect(made.risk).toBe("high")
  })

  it("is read as AutoGen wrote it", () => {
    const config = { executor: new WasmCodeExecutor().toComponent(), description: "Runs Python." }
    const provider = "autogen_ext.tools.code_execution.PythonCodeExecutionTool"
    expect(registry.load({ provider, component_type: "tool", config })).toMatchObject({
      name: "execute_code",
    })
  })

  it("is refused with a function, and with an executor that cannot be written down", () => {
    const executor = new WasmCodeExecutor()
    expect(failureOf(() => codeExecutionTool({ executor, approval: () => true }).toComponent())).toMatch(
      /^COMPONENT_INVALID: .*approval/,
    )
    const bare = Object.defineProperty(new WasmCodeExecutor(), "toComponent", { value: undefined })
    expect(failureOf(() => codeExecutionTool({ executor: bare }).toComponent())).toMatch(
      /^COMPONENT_INVALID: executor /,
    )
  })

  it("ends the executor that was made for it, with the workbench that has it", async () => {
    const tool = codeExecutionTool({ executor: new WasmCodeExecutor() })
    const workbench = roundTrip(registry, new StaticWorkbench([tool]))
    await workbench[Symbol.asyncDispose]()
    expect(await workbench.callTool("execute_code", { code: "1" })).toMatchObject({
      isError: true,
      result: [{ content: expect.stringContaining("was stopped") as string }],
    })
  })
})
