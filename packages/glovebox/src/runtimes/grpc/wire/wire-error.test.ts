import { describe, expect, it } from "vitest"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import { decodeMessage, encodeMessage } from "./codec.ts"
import { errorFields, errorOfResponse } from "./wire-error.ts"
import type { RpcResponse } from "./wire-message.ts"

function arrived(response: Partial<RpcResponse>): string | undefined {
  const bytes = encodeMessage({ response: { request_id: "1", ...response } })
  const error = errorOfResponse(decodeMessage(bytes).response ?? { request_id: "" })
  return error && `${error.code}: ${error.message}`
}

describe("errors on the wire", () => {
  it.each([
    [new GloveboxError("AGENT_UNKNOWN", "no such agent"), "AGENT_UNKNOWN: no such agent"],
    [new TypeError("it broke"), "AGENT_FAILED: it broke"],
    [new TypeError(""), "AGENT_FAILED: TypeError without a text"],
    [new Error("  "), "AGENT_FAILED: Error without a text"],
    ["thrown text", "AGENT_FAILED: thrown text"],
    [undefined, "AGENT_FAILED: undefined"],
    [Object.assign(new Error("x"), { code: "ENOENT" }), "AGENT_FAILED: x"],
  ])("%s arrives as %s", (error, expected) => {
    expect(arrived(errorFields(error))).toBe(expected)
  })

  it("never carries a stack or a cause, nor a text without end", () => {
    const error = new Error("outer", { cause: new Error("secret") })
    expect(JSON.stringify(errorFields(error))).toBe('{"error":"outer","metadata":{}}')
    expect(errorFields(new Error("x".repeat(10_000_000))).error).toHaveLength(65_536)
  })

  it("survives an error that cannot be read", () => {
    const hostile = Object.defineProperty(new Error("x"), "message", {
      get: () => {
        throw new Error("no")
      },
    })
    expect(errorFields(hostile).error).toBe("Error without a text")
  })

  it("takes only codes that exist", () => {
    expect(arrived({ error: "x", metadata: { "glovebox-error-code": "toString" } })).toBe("AGENT_FAILED: x")
    expect(arrived({ error: "x", metadata: { "glovebox-error-code": "WORKER_LOST" } })).toBe("WORKER_LOST: x")
  })

  it("tells an answer from a failure without a text", () => {
    const payload = { data_type: "", data_content_type: "", data: Buffer.alloc(0) }
    expect(arrived({ payload })).toBeUndefined()
    expect(arrived({ metadata: { "glovebox-empty": "1" } })).toBeUndefined()
    expect(arrived({})).toBe("AGENT_FAILED: The agent failed without a text.")
  })
})
