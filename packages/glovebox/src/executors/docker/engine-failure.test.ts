import { describe, expect, it } from "vitest"
import { GloveboxError } from "../../core/index.ts"
import { engineFailure, engineSaid, statusOf } from "./engine-failure.ts"

const URL = "unix:///var/run/docker.sock"

const answered = (statusCode: number, reason: string, text: string): Error =>
  Object.assign(new Error(`(HTTP code ${statusCode}) ${reason} - ${text} `), { statusCode, reason })

const failed = (code: string, message = `connect ${code} ${URL}`): Error =>
  Object.assign(new Error(message), { code })

describe("engineFailure", () => {
  it("tells an engine that does not answer from one that refuses", () => {
    for (const code of ["ECONNREFUSED", "ENOENT", "EACCES", "ECONNRESET", "ETIMEDOUT", "ENOTFOUND"]) {
      const failure = engineFailure(failed(code), "start a container", URL)
      expect(failure.code).toBe("ENGINE_UNAVAILABLE")
      expect(failure.message).toContain(URL)
      expect(failure.message).toContain(code)
    }
    for (const message of [
      "socket hang up",
      "ssh ended with 255: Permission denied",
      "self signed certificate",
    ]) {
      expect(engineFailure(new Error(message), "x", URL).code).toBe("ENGINE_UNAVAILABLE")
    }
    const refused = engineFailure(answered(500, "server error", "no space left"), "create a container", URL)
    expect(refused.code).toBe("ENGINE_FAILED")
    expect(refused.message).toBe(`The engine at ${URL} could not create a container: no space left`)
  })

  it("takes no answer for silence, although it speaks of a file or a certificate", () => {
    const answer = answered(500, "server error", 'exec: "python3": ENOENT, TLS certificate missing')
    expect(engineFailure(answer, "start a container", URL).code).toBe("ENGINE_FAILED")
  })

  it("finds the code of an error that says nothing else", () => {
    const error = Object.assign(new AggregateError([failed("ECONNREFUSED")], ""), { code: "ECONNREFUSED" })
    const failure = engineFailure(error, "x", URL)
    expect(failure.code).toBe("ENGINE_UNAVAILABLE")
    expect(failure.message).toContain("ECONNREFUSED")
  })

  it("keeps the cause, and an error that is typed already", () => {
    const cause = answered(409, "conflict", "in use")
    expect(engineFailure(cause, "x", URL).cause).toBe(cause)
    const typed = new GloveboxError("CONTAINER_NAME_TAKEN", "taken")
    expect(engineFailure(typed, "x", URL)).toBe(typed)
  })

  it("takes whatever was thrown", () => {
    for (const thrown of [undefined, null, "text", 5, {}, Object.create(null) as object]) {
      expect(engineFailure(thrown, "x", URL).code).toBe("ENGINE_FAILED")
    }
  })
})

describe("what the engine said", () => {
  it("is without the client's wrapping", () => {
    expect(engineSaid(answered(404, "no such container", "No such container: a-b - c"))).toBe(
      "No such container: a-b - c",
    )
    expect(engineSaid(new Error("plain - text"))).toBe("plain - text")
  })

  it("has a status only when it answered", () => {
    expect(statusOf(answered(404, "x", "y"))).toBe(404)
    for (const error of [new Error("x"), undefined, null, "x", { statusCode: "404" }]) {
      expect(statusOf(error)).toBeUndefined()
    }
  })
})
