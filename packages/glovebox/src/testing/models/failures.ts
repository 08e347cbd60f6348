import assert from "node:assert/strict"
import { inspect } from "node:util"
import type { ErrorCode } from "../../core/index.ts"
import type { ScriptedAnswer } from "../model-client-subject.ts"
import { rejectsWith } from "../expectations.ts"
import { type ModelSuite, ask, drain, saying } from "./model-suite.ts"

const HOUR = 3_600_000

function status(code: number, headers: Readonly<Record<string, string>> = {}): ScriptedAnswer {
  return { type: "status", status: code, message: "it went wrong", headers }
}

export function defineFailures({ it, subject }: ModelSuite): void {
  if (!subject.features.http) return
  const statuses: readonly (readonly [number, ErrorCode])[] = [
    [400, "MODEL_REQUEST_INVALID"],
    [401, "MODEL_KEY_REFUSED"],
    [403, "MODEL_KEY_REFUSED"],
    [422, "MODEL_REQUEST_INVALID"],
    [429, "MODEL_RATE_LIMITED"],
    [500, "MODEL_UNAVAILABLE"],
    [503, "MODEL_UNAVAILABLE"],
  ]
  for (const [code, error] of statuses) {
    it(`tells ${code} as ${error}, with what the server said`, async (stage) => {
      stage.script(status(code), status(code))
      const client = stage.client({ maxRetries: 0 })
      await rejectsWith(client.create(ask("x")), error, /it went wrong/)
      await rejectsWith(drain(client, ask("x!")), error, /it went wrong/)
    })
  }

  it("tells a model that is not there from an address that is wrong", async (stage) => {
    stage.script(
      { type: "status", status: 404, message: 'model "x" not found' },
      { type: "foreign", status: 404 },
    )
    const client = stage.client({ maxRetries: 0 })
    await rejectsWith(client.create(ask("x")), "MODEL_UNKNOWN", /no model/)
    await rejectsWith(client.create(ask("y")), "MODEL_ENDPOINT_INVALID", /baseURL/)
  })

  it("does not follow a redirect with its key", async (stage) => {
    stage.script(status(307, { location: "/elsewhere" }))
    await rejectsWith(stage.client().create(ask("x")), "MODEL_ENDPOINT_INVALID", /leads elsewhere \(307\)/)
    assert.equal(stage.requests.length, 1)
  })

  it("tells an answer that is none of the API's", async (stage) => {
    stage.script({ type: "foreign", status: 200 }, { type: "foreign", status: 200 })
    const client = stage.client({ maxRetries: 0 })
    await rejectsWith(client.create(ask("x")), "MODEL_RESPONSE_INVALID")
    await rejectsWith(drain(client, ask("y")), "MODEL_RESPONSE_INVALID")
  })

  it("tells a connection that is refused, at once", async (stage) => {
    const client = stage.client({ retryDelayMs: HOUR })
    await stage.shut()
    await rejectsWith(client.create(ask("x")), "MODEL_UNAVAILABLE", /ECONNREFUSED.*Nothing listens/)
  })

  it("tries again after 429 and 5xx, and when the connection is lost before an answer", async (stage) => {
    stage.script(status(429), status(503), { type: "broken", after: "lost" }, saying("at last"))
    const client = stage.client({ maxRetries: 3, retryDelayMs: 1 })
    assert.equal((await client.create(ask("x"))).content, "at last")
    assert.equal(stage.requests.length, 4)
  })

  it("begins a stream again as long as nothing was said", async (stage) => {
    stage.script(
      status(500),
      { type: "broken", after: "lost" },
      { type: "broken", piece: "", after: "lost" },
      saying("at last"),
    )
    const { pieces } = await drain(stage.client({ maxRetries: 3, retryDelayMs: 1 }), ask("x"))
    assert.deepEqual([pieces, stage.requests.length], [["at last"], 4])
  })

  it("waits as long as Retry-After says, instead of its own pause", async (stage) => {
    stage.script(status(429, { "retry-after": "0" }), status(503, { "retry-after": "0" }), saying("ok"))
    const client = stage.client({ maxRetries: 2, retryDelayMs: HOUR })
    assert.equal((await client.create(ask("x"))).content, "ok")
  })

  it("does not wait for a Retry-After that comes after its deadline", async (stage) => {
    stage.script(status(429, { "retry-after": "3600" }))
    const client = stage.client({ maxRetries: 5, timeoutMs: 60_000 })
    await rejectsWith(client.create(ask("x")), "MODEL_RATE_LIMITED", /wait 3600 s/)
    assert.equal(stage.requests.length, 1)
  })

  it("gives up after its retries, and does not retry what is wrong with the request", async (stage) => {
    stage.script(status(500), status(500), status(500), status(400))
    const client = stage.client({ maxRetries: 2, retryDelayMs: 1 })
    await rejectsWith(client.create(ask("x")), "MODEL_UNAVAILABLE", /after 3 attempts/)
    await rejectsWith(client.create(ask("y")), "MODEL_REQUEST_INVALID")
    assert.equal(stage.requests.length, 4)
  })

  it("tells a stream that breaks off, ends early or is no JSON, and does not try again", async (stage) => {
    const client = stage.client({ maxRetries: 2, retryDelayMs: 1 })
    const codes: readonly (readonly ["lost" | "end" | "garbage", ErrorCode])[] = [
      ["lost", "MODEL_UNAVAILABLE"],
      ["end", "MODEL_RESPONSE_INVALID"],
      ["garbage", "MODEL_RESPONSE_INVALID"],
    ]
    for (const [after, code] of codes) {
      stage.script({ type: "broken", piece: "Well, ", after })
      const stream = client.createStream(ask(after))
      assert.equal((await stream.next()).value, "Well, ")
      await rejectsWith(stream.next(), code)
    }
    assert.equal(stage.requests.length, codes.length)
  })

  it("ends at its deadline, before and within an answer", async (stage) => {
    stage.script({ type: "silence" }, { type: "broken", piece: "Well, ", after: "silence" })
    const client = stage.client({ timeoutMs: 50, maxRetries: 0 })
    await rejectsWith(client.create(ask("x")), "MODEL_TIMEOUT", /50 ms/)
    await rejectsWith(drain(client, ask("y")), "MODEL_TIMEOUT", /50 ms/)
    for (const { over } of stage.requests) assert.equal(await over, "closed")
  })

  it("ends a stream that falls silent", async (stage) => {
    stage.script({ type: "broken", piece: "Well, ", after: "silence" })
    const stream = stage.client({ idleTimeoutMs: 30, timeoutMs: HOUR }).createStream(ask("x"))
    assert.equal((await stream.next()).value, "Well, ")
    await rejectsWith(stream.next(), "MODEL_TIMEOUT", /brought nothing for 30 ms/)
    assert.equal(await (await stage.nextRequest()).over, "closed")
  })

  it("shows its key nowhere, whatever the server says", async (stage) => {
    const client = stage.client({ maxRetries: 0 })
    const shown = [
      inspect(client, { depth: 10, showHidden: true }),
      JSON.stringify(client),
      JSON.stringify(client.identity),
    ]
    if ("toComponent" in client && typeof client.toComponent === "function") {
      shown.push(JSON.stringify((client.toComponent as () => unknown)()))
    }
    for (const code of [400, 401, 404, 429, 500]) {
      stage.script({ type: "status", status: code, message: `the key ${subject.apiKey} is no good` })
      const error = await client.create(ask(`x ${code}`)).catch((reason: unknown) => reason)
      shown.push(inspect(error, { depth: 10, showHidden: true }), String(error))
    }
    for (const text of shown) assert.ok(!text.includes(subject.apiKey), text)
  })
}
