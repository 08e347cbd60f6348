import { describe, expect, expectTypeOf, it, vi } from "vitest"
import { type Logger, safeLogger, silentLogger, warningLogger } from "./logger.ts"

const levels = ["debug", "info", "warn", "error"] as const

describe("silentLogger", () => {
  it.each(levels)("says nothing at %s", (level) => {
    const write = vi.spyOn(process, "emitWarning").mockImplementation(() => {})
    silentLogger[level]("message", { error: new Error("x") })
    expect(write).not.toHaveBeenCalled()
    write.mockRestore()
  })
})

describe("warningLogger", () => {
  it("turns an error into one process warning that tells why and where", () => {
    const error = new Error("boom")
    expect(warningsOf((logger) => logger.error("A listener failed", { error }))).toEqual([
      ["A listener failed: boom", { type: "GloveboxWarning", detail: error.stack }],
    ])
  })

  it("takes an error report without an error in it", () => {
    const plain = ["Odd", { type: "GloveboxWarning" }]
    expect(warningsOf((logger) => logger.error("Odd"))).toEqual([plain])
    expect(warningsOf((logger) => logger.error("Odd", { error: "text" }))).toEqual([plain])
  })

  it("is quiet below that", () => {
    expect(
      warningsOf((logger) => {
        logger.debug("d")
        logger.info("i")
        logger.warn("w")
      }),
    ).toEqual([])
  })
})

describe("safeLogger", () => {
  it.each(levels)("passes %s on as it is, with the logger as this", (level) => {
    const logger = new Collect()
    safeLogger(logger)[level]("message", { a: 1 })
    expect(logger.seen).toEqual([[level, "message", { a: 1 }]])
    expectTypeOf(console).toExtend<Logger>()
  })

  it.each(levels)("keeps a logger that throws at %s from breaking its caller", (level) => {
    const broken = safeLogger({ debug: boom, info: boom, warn: boom, error: boom })
    expect(() => broken[level]("message")).not.toThrow()
  })

  it("keeps a logger that rejects from ending the process", async () => {
    const unhandled = vi.fn<(reason: unknown) => void>()
    process.on("unhandledRejection", unhandled)
    const rejecting: unknown = { ...silentLogger, error: () => Promise.reject(new Error("boom")) }
    safeLogger(rejecting as Logger).error("message")
    await new Promise((resolve) => setImmediate(resolve))
    process.off("unhandledRejection", unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })
})

function boom(): never {
  throw new Error("boom")
}

function warningsOf(log: (logger: Logger) => void): unknown[][] {
  const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => {})
  log(warningLogger)
  const calls = emitWarning.mock.calls
  emitWarning.mockRestore()
  return calls
}

class Collect implements Logger {
  readonly seen: unknown[] = []

  debug(...entry: unknown[]): void {
    this.seen.push(["debug", ...entry])
  }

  info(...entry: unknown[]): void {
    this.seen.push(["info", ...entry])
  }

  warn(...entry: unknown[]): void {
    this.seen.push(["warn", ...entry])
  }

  error(...entry: unknown[]): void {
    this.seen.push(["error", ...entry])
  }
}
