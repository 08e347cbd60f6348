import { expect, it } from "vitest"
import type { Logger } from "../../core/index.ts"
import { Redactor } from "./index.ts"

const SECRET = "correct-horse-battery"

/** A logger that keeps what it is told, and the same told without secrets. */
function keeping(): { readonly logger: Logger; readonly told: unknown[][] } {
  const told: unknown[][] = []
  const keep =
    (level: string): Logger["debug"] =>
    (...words) => {
      told.push([level, ...words])
    }
  const logger = { debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") }
  return { told, logger: new Redactor({ values: { db: SECRET }, environment: false }).logger(logger) }
}

it.each(["debug", "info", "warn", "error"] as const)("tells %s without secrets, errors too", (level) => {
  const { logger, told } = keeping()
  const error = new Error(`refused ${SECRET}`, { cause: new Error(SECRET) })
  logger[level](`with ${SECRET}`, { error, list: [SECRET], count: 3 })
  logger[level]("plain")
  const [[, message, fields] = [], plain] = told
  expect(message).toBe("with [redacted:db]")
  expect(fields).toMatchObject({
    error: { message: "refused [redacted:db]", cause: { message: "[redacted:db]" } },
    list: ["[redacted:db]"],
    count: 3,
  })
  expect(plain).toEqual([level, "plain"])
})

it("leaves out fields that nobody can look through, and tells the rest", () => {
  const { logger, told } = keeping()
  const self: Record<string, unknown> = { SECRET }
  self["self"] = self
  logger.warn("odd", self)
  expect(told).toEqual([["warn", "odd", { fields: "left out: they cannot be redacted" }]])
})
