import { expect, it } from "vitest"
import { FakeExecutor } from "../../chat/agents/code-executor/fake-executor.test-kit.ts"
import { ChosenExecutor } from "../../executors/factory/chosen-executor.ts"
import { DockerCommandLineCodeExecutor } from "../../executors/docker/index.ts"
import type { KnownSecret } from "../../executors/index.ts"
import { Governance } from "../../governance/index.ts"
import { OutputRedaction } from "../output-redaction.ts"
import { RecordedExecutor } from "./recorded-executor.ts"

const SECRET: KnownSecret = { name: "WEATHER", value: "sunny-with-a-chance", placeholder: "gbx_x" }

/** An executor with a secret, which only prints. */
class Weather extends FakeExecutor {
  readonly beyondPolicy = []

  describeFunctions(): string {
    return ""
  }

  toComponent(): ReturnType<DockerCommandLineCodeExecutor["toComponent"]> {
    return new DockerCommandLineCodeExecutor().toComponent()
  }

  onSecret(listener: (secret: KnownSecret) => void): Disposable {
    listener(SECRET)
    return { [Symbol.dispose]: () => {} }
  }
}

it("makes the secrets of its executor known to whoever redacts what it prints", async () => {
  const chosen = new ChosenExecutor(new Weather(`it is ${SECRET.value}`), {
    tier: "docker",
    because: "it is there",
    tried: [],
  })
  const governance = new Governance({ audit: false, redaction: { environment: false } })
  const executor = governance
    .agent("coder")
    .executor(new RecordedExecutor(chosen, { redaction: new OutputRedaction() }))
  const { output } = await executor.executeCodeBlocks([{ language: "python", code: "" }])
  expect(output).toBe("it is [redacted:WEATHER]")
})
