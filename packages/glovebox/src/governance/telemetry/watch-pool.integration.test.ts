import { expect, it } from "vitest"
import { createExecutor } from "../../executors/index.ts"
import { WasmCodeExecutor } from "../../executors/wasm/index.ts"
import { listening } from "./telemetry.test-kit.ts"

it("tells of the sandboxes that a real executor keeps, uses, and has ended", async () => {
  const { telemetry, metric } = listening()
  const told = async (): Promise<Record<string, unknown>> => {
    const { points } = await metric("glovebox.pool.sandboxes")
    return Object.fromEntries(
      points.map(({ attributes, value }) => [String(attributes["glovebox.pool.state"]), value]),
    )
  }
  await using executor = new WasmCodeExecutor({ pool: { size: 1 } })
  using _watch = telemetry.watchPool(executor, { executor: "wasm" })
  expect(executor.pool).toBeUndefined()
  expect(await told()).toEqual({})
  await executor.start()
  expect(await told()).toEqual({ ready: 1, busy: 0 })
  let during: Promise<Record<string, unknown>> | undefined
  const observed = telemetry.codeRun({ agent: "coder", executor: "wasm", blocks: [] })
  const result = await executor.executeCodeBlocks([{ language: "python", code: "print(1)" }], {
    onOutput: () => {
      during ??= told()
    },
  })
  observed.end(result)
  expect(await during).toMatchObject({ busy: 1 })
  await executor.stop()
  expect(await told()).toEqual({ ready: 0, busy: 0 })
  expect((await metric("glovebox.sandbox.starts")).points).toEqual([
    { attributes: { "glovebox.executor": "wasm", "glovebox.sandbox.pooled": true }, value: 1 },
  ])
})

it("is told through the executor that createExecutor chooses", async () => {
  await using executor = await createExecutor({ sandbox: "wasm" })
  await executor.start()
  expect(executor.pool?.ready).toBeGreaterThan(0)
})
