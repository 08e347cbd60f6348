import { Metadata } from "@grpc/grpc-js"
import { describe, expect, it } from "vitest"
import { RawWorker } from "./raw-worker.test-kit.ts"
import { startHost, until } from "./start-host.test-kit.ts"

const TOKENS = [
  {
    name: "news",
    token: "one",
    register: ["news.*"],
    publish: ["news"],
    subscribe: ["news"],
    send: ["news.*"],
  },
  { name: "all", token: "two", register: ["*"], publish: ["*"], subscribe: ["*"], send: ["*"] },
]

describe("a host's handshake", () => {
  it("refuses calls without a client id, in AutoGen's words", async () => {
    await using host = await startHost()
    using worker = new RawWorker(host.address)
    const details = "client-id metadata not found."
    await expect(worker.client.registerAgent({ type: "a" }, new Metadata())).rejects.toMatchObject({
      code: 3,
      details,
    })
    const stream = worker.client.openChannel(new Metadata())
    const error = await new Promise((resolve) => stream.on("error", resolve))
    expect(error).toMatchObject({ code: 3, details })
    expect(host.metrics().rejectedCalls).toBe(2)
  })

  it("answers a plain worker with headers at once, and a link worker with its terms", async () => {
    await using host = await startHost({ maxMessageBytes: 5000 })
    using plain = await RawWorker.open(host.address, { isLink: false })
    expect(plain.header("glovebox-link")).toBe("")
    using link = await RawWorker.open(host.address)
    const names = ["link", "resumed", "received", "grace-ms", "heartbeat-ms", "max-message"]
    expect(names.map((name) => link.header(`glovebox-${name}`))).toEqual([
      "1",
      "0",
      "0",
      "300",
      "100",
      "5000",
    ])
    expect(link.session).toMatch(/^[\w-]{32}$/)
    expect(host.status().workers.map(({ kind, state }) => [kind, state])).toEqual([
      ["plain", "open"],
      ["link", "open"],
    ])
  })

  it("has a type for one plain worker alone, also before its channel", async () => {
    await using host = await startHost()
    using one = new RawWorker(host.address, { isLink: false, clientId: "one" })
    await one.register("echo")
    expect(host.status().workers).toMatchObject([
      { clientId: "one", state: "unopened", agentTypes: ["echo"] },
    ])
    using two = await RawWorker.open(host.address, { isLink: false })
    using link = await RawWorker.open(host.address)
    const details = "Agent type echo already registered with client one."
    for (const worker of [one, two, link]) {
      await expect(worker.register("echo")).rejects.toMatchObject({ code: 3, details })
    }
    await one.connect()
    expect(host.status().workers).toMatchObject([{ state: "open", agentTypes: ["echo"] }, {}, {}])
    await link.register("mine")
    await expect(two.register("mine")).rejects.toMatchObject({ code: 3 })
    await expect(link.register("mine")).rejects.toMatchObject({ code: 3 })
    await expect(one.register("no/type")).rejects.toMatchObject({
      code: 3,
      details: expect.stringMatching(/not valid/),
    })
  })

  it("forgets a client that never opens a channel, and answers what waits for it", async () => {
    await using host = await startHost({ graceMs: 100 })
    using caller = await RawWorker.open(host.address)
    using never = new RawWorker(host.address, { isLink: false })
    await never.register("never")
    expect((await caller.send("never/1")).metadata).toEqual({ "glovebox-error-code": "AGENT_TYPE_UNKNOWN" })
    expect(host.status().workers).toHaveLength(1)
  })

  it("refuses a subscription that there is, in AutoGen's words, and removing one of another", async () => {
    await using host = await startHost()
    using one = await RawWorker.open(host.address, { isLink: false })
    using two = await RawWorker.open(host.address)
    const id = await one.subscribe("news", "a")
    const details = "Subscription already exists"
    await expect(one.subscribe("news", "a")).rejects.toMatchObject({ code: 3, details })
    await expect(two.subscribe("news", "a")).rejects.toMatchObject({ code: 3, details })
    await expect(two.subscribe("other", "a", id)).rejects.toMatchObject({ code: 3, details })
    await expect(one.client.addSubscription({}, one.metadata())).rejects.toMatchObject({ code: 3 })
    for (const unknown of [id, "nothing"]) {
      await expect(two.client.removeSubscription({ id: unknown }, two.metadata())).rejects.toMatchObject({
        code: 5,
      })
    }
  })

  it("refuses a second channel of a plain worker, and keeps the first", async () => {
    await using host = await startHost()
    using first = (await RawWorker.open(host.address, { isLink: false, clientId: "same" })).echo()
    await first.register("echo")
    for (const isLink of [true, false]) {
      const second = RawWorker.open(host.address, { isLink, clientId: "same" })
      await expect(second).rejects.toMatchObject({ code: 6 })
    }
    expect((await first.send("echo/1")).error).toBe("")
  })

  it("refuses whoever uses the client id of a link worker without its secret", async () => {
    await using host = await startHost()
    using worker = await RawWorker.open(host.address, { clientId: "mine" })
    await worker.register("a")
    for (const session of ["", "guessed", `${worker.session}x`]) {
      using thief = new RawWorker(host.address, { clientId: "mine" })
      thief.session = session
      await expect(thief.connect()).rejects.toMatchObject({ code: 7 })
      await expect(thief.register("b")).rejects.toMatchObject({ code: 7 })
      await expect(thief.subscribe("t", "a")).rejects.toMatchObject({ code: 7 })
      await expect(thief.control(() => {})).rejects.toMatchObject({ code: 7 })
    }
    expect(host.status().workers).toMatchObject([{ agentTypes: ["a"], state: "open" }])
  })

  it("lets one begin anew that never learned its secret", async () => {
    await using host = await startHost()
    using worker = new RawWorker(host.address)
    const metadata = worker.metadata({ "glovebox-link": "1" })
    const lost = worker.client.openChannel(metadata)
    lost.on("error", () => {})
    await until(() => host.status().workers.length === 1)
    lost.cancel()
    await worker.connect()
    await worker.register("a")
    expect(host.status().workers).toMatchObject([{ state: "open", agentTypes: ["a"] }])
  })
})

describe("a host's tokens", () => {
  it("let in who has one, with a client id that is its own", async () => {
    await using host = await startHost({ tokens: TOKENS })
    await expect(RawWorker.open(host.address)).rejects.toMatchObject({ code: 16 })
    await expect(RawWorker.open(host.address, { token: "guessed" })).rejects.toMatchObject({ code: 16 })
    using worker = await RawWorker.open(host.address, { token: "two", clientId: "bound" })
    using other = new RawWorker(host.address, { token: "one", clientId: "bound" })
    other.session = worker.session
    await expect(other.connect()).rejects.toMatchObject({ code: 7 })
    await expect(other.register("news.a")).rejects.toMatchObject({ code: 7 })
    worker.link.send({ notice: { leave: "bye" } })
    await until(() => host.status().workers.length === 0)
    other.session = ""
    await new Promise((resolve) => setImmediate(resolve))
    await other.connect()
  })

  it("allow what they name, and nothing else", async () => {
    await using host = await startHost({ tokens: TOKENS })
    using worker = (await RawWorker.open(host.address, { token: "one" })).echo()
    using free = (await RawWorker.open(host.address, { token: "two" })).echo()
    await free.register("free")
    await worker.register("news.a")
    await worker.subscribe("news", "news.a")
    await expect(worker.register("other")).rejects.toMatchObject({ code: 7 })
    await expect(worker.subscribe("other", "news.a")).rejects.toMatchObject({ code: 7 })
    await expect(worker.subscribe("news", "free")).rejects.toMatchObject({ code: 7 })
    expect((await worker.send("news.a/1")).error).toBe("")
    expect((await worker.send("free/1")).metadata).toEqual({ "glovebox-error-code": "HOST_REFUSED" })
    const seq = worker.publish("other")
    const { notice } = await worker.next((message) => (message.notice?.refusals?.length ?? 0) > 0)
    expect(notice?.refusals).toMatchObject([{ seq, code: "HOST_REFUSED" }])
  })

  it("can be a function", async () => {
    const scopes = { name: "some", register: ["*"] }
    await using host = await startHost({
      authenticate: async (token) => (token === "yes" ? scopes : undefined),
    })
    await expect(RawWorker.open(host.address, { token: "no" })).rejects.toMatchObject({ code: 16 })
    using worker = await RawWorker.open(host.address, { token: "yes" })
    await worker.register("a")
  })
})
