import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { PolicyInput } from "../../policy/index.ts"
import { EgressControl } from "./sandbox-egress.ts"
import { DockerCommandLineCodeExecutor } from "../docker/docker-command-line-code-executor.ts"
import { LocalCommandLineCodeExecutor } from "../local/local-command-line-code-executor.ts"
import { WasmCodeExecutor } from "../wasm/wasm-code-executor.ts"
import { SandboxPolicy } from "../../policy/index.ts"

const NAME = "GLOVEBOX_TEST_SECRET"
const VALUE = "a-value-for-the-tests"

const POLICY: PolicyInput = {
  network: { allow: [{ to: "api.example.com:443", intercept: true }, "data.local:80"] },
  secrets: { [NAME]: { hosts: ["api.example.com"] }, KEY: { hosts: ["http://data.local"], env: "DATA_KEY" } },
}

const docker = (secretValues?: Record<string, string>): DockerCommandLineCodeExecutor =>
  new DockerCommandLineCodeExecutor({ policy: POLICY, secretValues })

describe("the values of secrets", () => {
  beforeEach(() => {
    process.env[NAME] = VALUE
  })
  afterEach(() => {
    delete process.env[NAME]
  })

  it("come from options, or from variables of this process at each start, and code sees placeholders of their length", () => {
    const control = new EgressControl(new SandboxPolicy(POLICY).fields, {
      secretValues: { KEY: `${VALUE}-2` },
    })
    const told: string[] = []
    control.onSecret(({ name, value }) => told.push(`${name}=${value}`))
    control.prepare()
    const first = control.open()!
    process.env[NAME] = `${VALUE}-new`
    control.prepare()
    const second = control.open()!
    expect(told).toEqual([`${NAME}=${VALUE}`, `KEY=${VALUE}-2`, `${NAME}=${VALUE}-new`, `KEY=${VALUE}-2`])
    expect(first.variables).toMatchObject({ [NAME]: expect.stringMatching(/^gbx_\w{17}$/) })
    expect(second.variables["DATA_KEY"]).toBe(first.variables["DATA_KEY"])
    expect(second.variables[NAME]).not.toBe(first.variables[NAME])
    expect(JSON.stringify(second.variables)).not.toContain(VALUE)
    expect(second.variables).toMatchObject({ SSL_CERT_FILE: expect.stringMatching(/^\/tmp\//) })
    first.close()
    second.close()
  })

  it.each([
    [{}, "SECRET_MISSING", /the secret KEY.*set the variable KEY.*secretValues/],
    [{ KEY: "" }, "SECRET_MISSING", /KEY/],
    [{ KEY: "short" }, "OPTION_INVALID", /KEY is shorter than 16/],
    [{ KEY: `${VALUE}\n` }, "OPTION_INVALID", /line end/],
    [{ KEY: `${VALUE}\u00e9` }, "OPTION_INVALID", /ASCII/],
    [{ KEY: "x".repeat(10_000) }, "OPTION_INVALID", /longer than/],
    [{ KEY: VALUE, OTHER: VALUE }, "OPTION_INVALID", /has OTHER/],
  ])("are refused before anything is started: %j", async (values, code, message) => {
    await using executor = docker(values)
    const failure: unknown = await executor.start().catch((error: unknown) => error)
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) })
    expect(String(failure)).not.toContain(VALUE)
  })

  it("are never written down", () => {
    expect(() => docker({ KEY: VALUE }).toComponent()).toThrow(/secretValues/)
    expect(JSON.stringify(docker().toComponent())).not.toContain(VALUE)
  })

  it("are refused where no gate could put them in", () => {
    expect(() => new WasmCodeExecutor({ policy: POLICY })).toThrow(/network/)
    expect(() => new LocalCommandLineCodeExecutor({ policy: POLICY, dangerouslyRunOnHost: true })).toThrow(
      /secrets\.KEY.*nothing enforces/,
    )
  })
})
