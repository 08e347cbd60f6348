import { rm } from "node:fs/promises"
import { beforeAll, expect, it } from "vitest"
import { allExamples, needsEngine, runExamples } from "./examples.test-kit.ts"
import { stubWheels } from "./stub-wheel.test-kit.ts"

const examples = allExamples().filter((example) => !needsEngine(example))
let outputs: ReadonlyMap<string, string>

beforeAll(async () => {
  const wheels = await stubWheels()
  try {
    outputs = await runExamples(examples, {
      DOCKER_HOST: "unix:///nonexistent/docker.sock",
      PIP_NO_INDEX: "1",
      PIP_FIND_LINKS: wheels,
    })
  } finally {
    await rm(wheels, { recursive: true })
  }
})

it.each(examples)("$path prints what it says, without an engine", ({ path, output }) => {
  expect(outputs.get(path)).toBe(output)
})
