import assert from "node:assert/strict"
import { rejectionOf, rejectsWith } from "../expectations.ts"
import { type ModelSuite, ask, drain, saying } from "./model-suite.ts"

export function defineModelAborts({ it, subject }: ModelSuite): void {
  const reason = new Error("enough")

  it("rejects with the reason when it was aborted before", async (stage) => {
    const client = stage.client()
    const signal = AbortSignal.abort(reason)
    assert.equal(await rejectionOf(client.create(ask("x"), { signal })), reason)
    assert.equal(await rejectionOf(client.createStream(ask("x"), { signal }).next()), reason)
    assert.equal(stage.requests.length, 0)
  })

  it("refuses calls when it is closed, also twice", async (stage) => {
    const client = stage.client()
    await client.close()
    await client[Symbol.asyncDispose]()
    await rejectsWith(client.create(ask("x")), "MODEL_CLIENT_CLOSED")
    await rejectsWith(drain(client, ask("x")), "MODEL_CLIENT_CLOSED")
    assert.equal(stage.requests.length, 0)
  })

  it("leaves the loop of a stream in good order", async (stage) => {
    stage.script(saying("one ", "two ", "three"), saying("next"))
    const client = stage.client()
    const stream = client.createStream(ask("count"))
    assert.equal((await stream.next()).value, "one ")
    await stream.return(undefined as never)
    assert.equal((await stream.next()).done, true)
    assert.equal((await client.create(ask("again"))).content, "next")
  })

  if (!subject.features.http) return

  it("closes the connection when it is aborted while it waits", async (stage) => {
    stage.script({ type: "silence" })
    const controller = new AbortController()
    const result = rejectionOf(stage.client().create(ask("x"), { signal: controller.signal }))
    const request = await stage.nextRequest()
    controller.abort(reason)
    assert.equal(await result, reason)
    assert.equal(await request.over, "closed")
  })

  it("closes the connection when a stream is aborted, and when its loop is left", async (stage) => {
    const client = stage.client()
    for (const how of ["abort", "leave"] as const) {
      stage.script({ type: "broken", piece: "Well, ", after: "silence" })
      const controller = new AbortController()
      const stream = client.createStream(ask(how), { signal: controller.signal })
      assert.equal((await stream.next()).value, "Well, ")
      if (how === "leave") await stream.return(undefined as never)
      else {
        const next = rejectionOf(stream.next())
        controller.abort(reason)
        assert.equal(await next, reason)
      }
      assert.equal(await (await stage.nextRequest()).over, "closed")
    }
  })

  it("stops waiting for a retry when it is aborted", async (stage) => {
    stage.script({ type: "status", status: 500 })
    const controller = new AbortController()
    const client = stage.client({ maxRetries: 5, retryDelayMs: 3_600_000, timeoutMs: 2_000_000_000 })
    const result = rejectionOf(client.create(ask("x"), { signal: controller.signal }))
    assert.equal(await (await stage.nextRequest()).over, "answered")
    controller.abort(reason)
    assert.equal(await result, reason)
  })

  it("ends the calls under way when it is closed", async (stage) => {
    stage.script({ type: "silence" }, { type: "broken", piece: "Well, ", after: "silence" })
    const client = stage.client()
    const whole = rejectsWith(client.create(ask("x")), "MODEL_CLIENT_CLOSED")
    const first = await stage.nextRequest()
    const stream = client.createStream(ask("y"))
    assert.equal((await stream.next()).value, "Well, ")
    const streamed = rejectsWith(stream.next(), "MODEL_CLIENT_CLOSED")
    const second = await stage.nextRequest()
    await client.close()
    await whole
    await streamed
    assert.deepEqual(await Promise.all([first.over, second.over]), ["closed", "closed"])
  })
}
