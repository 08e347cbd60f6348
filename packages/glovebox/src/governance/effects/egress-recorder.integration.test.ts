import { expect, it } from "vitest"
import { GovernedPlace } from "../governance.test-kit.ts"
import { Telling, connection, finished } from "./telling-executor.test-kit.ts"

const DENIED = { type: "egress", ...connection("a.example") } as const
const SECRETS = [{ name: "KEY", host: "b.example" }]
const OPENED = {
  type: "egress",
  ...connection("b.example", { secrets: SECRETS, verdict: "allowed" }, "opened"),
} as const

it("lets a program that asks for connections without end not fill the log, but has each secret that left in it", async () => {
  await using place = await GovernedPlace.make()
  const many = Array.from({ length: 10_004 }, () => DENIED)
  const flooding = new Telling(...many, OPENED, finished())
  const executor = place.governance.agent("coder").executor(flooding)
  await executor.executeCodeBlocks([{ code: "flood()", language: "python" }])
  const records = await place.records()
  expect(records.filter(({ kind }) => kind === "egress")).toHaveLength(10_000)
  expect(records.find(({ kind }) => kind === "custom")?.data).toMatchObject({
    name: "egress-not-recorded",
    detail: { count: 5 },
  })
  expect(records.filter(({ kind }) => kind === "secret-used")).toMatchObject([
    { data: { name: "KEY", host: "b.example" } },
  ])
})
