import { describe, expect, it } from "vitest"
import { packAny, unpackAny } from "../wire/codec.ts"
import type { ControlMessage } from "../wire/wire-message.ts"
import { RawWorker } from "./raw-worker.test-kit.ts"
import { startHost, until } from "./start-host.test-kit.ts"

const agentId = { type: "a", key: "1" }
const save = packAny("SaveStateRequest", { agentId })

async function withControl(address: string, options = {}) {
  const worker = await RawWorker.open(address, options)
  const received: ControlMessage[] = []
  const control = await worker.control((message) => received.push(message))
  return { worker, received, control, [Symbol.dispose]: () => worker.close() }
}

function contentOf(message: ControlMessage | undefined): unknown {
  return message?.rpcMessage ? unpackAny(message.rpcMessage)?.value : undefined
}

describe("the control channel", () => {
  it("takes questions to the worker of an agent, and answers to who asked", async () => {
    await using host = await startHost()
    using owner = await withControl(host.address)
    using asker = await withControl(host.address)
    await owner.worker.register("a")
    const respond_to = `clientid=${asker.worker.clientId}`
    asker.control.write({ rpc_id: "1", destination: "agentid=a/1", respond_to, rpcMessage: save })
    await until(() => owner.received.length === 1)
    expect(owner.received[0]).toMatchObject({ rpc_id: "1", destination: "agentid=a/1", respond_to })
    expect(contentOf(owner.received[0])).toMatchObject({ agentId })
    const rpcMessage = packAny("SaveStateResponse", { state: "{}" })
    owner.control.write({ rpc_id: "1", destination: respond_to, rpcMessage })
    // An answer to what nobody asked goes nowhere.
    owner.control.write({ rpc_id: "2", destination: respond_to, rpcMessage })
    asker.control.write({
      rpc_id: "3",
      destination: `clientid=${owner.worker.clientId}`,
      respond_to,
      rpcMessage: packAny("ControlCall", { json: JSON.stringify({ action: "waited", send: "x" }) }),
    })
    await until(() => owner.received.length === 2)
    expect(asker.received.map(({ rpc_id }) => rpc_id)).toEqual(["1"])
    expect(contentOf(asker.received[0])).toMatchObject({ state: "{}" })
  })

  it.each([
    ["agentid=nobody/1", "AGENT_TYPE_UNKNOWN"],
    ["clientid=nobody", "WORKER_LOST"],
    ["somewhere", "WORKER_LOST"],
    ["agentid=python/1", "WORKER_LOST"],
  ])("answers a question to %s with %s", async (destination, code) => {
    await using host = await startHost()
    using plain = await RawWorker.open(host.address, { isLink: false })
    await plain.register("python")
    using asker = await withControl(host.address)
    const respond_to = `clientid=${asker.worker.clientId}`
    const call = packAny("ControlCall", { json: JSON.stringify({ action: "metadata" }) })
    asker.control.write({ rpc_id: "1", destination, respond_to, rpcMessage: call })
    await until(() => asker.received.length === 1)
    expect(contentOf(asker.received[0])).toMatchObject({ code, error: expect.stringMatching(/./) })
  })

  it("answers when the worker leaves, or its channel is lost, before it did", async () => {
    await using host = await startHost({ graceMs: 100 })
    using asker = await withControl(host.address)
    const ask = (rpc_id: string): void => {
      const respond_to = `clientid=${asker.worker.clientId}`
      asker.control.write({ rpc_id, destination: "agentid=a/1", respond_to, rpcMessage: save })
    }
    {
      using owner = await withControl(host.address)
      await owner.worker.register("a")
      ask("1")
      await until(() => owner.received.length === 1)
      owner.control.end()
      await until(() => asker.received.length === 1)
      ask("2")
      owner.worker.link.send({ notice: { leave: "bye" } })
      await until(() => asker.received.length === 2)
    }
    const load = packAny("LoadStateRequest", { agentId, state: "{}" })
    using late = await RawWorker.open(host.address)
    await late.register("a")
    const respond_to = `clientid=${asker.worker.clientId}`
    asker.control.write({ rpc_id: "3", destination: "agentid=a/1", respond_to, rpcMessage: load })
    await until(() => asker.received.length === 3)
    expect(asker.received.map((message) => contentOf(message))).toMatchObject([
      { error: expect.stringMatching(/^\[CONNECTION_LOST\]/) },
      { error: expect.stringMatching(/^\[(?:WORKER_LOST|CONNECTION_LOST|AGENT_TYPE_UNKNOWN)\]/) },
      { error: expect.stringMatching(/^\[WORKER_LOST\]/) },
    ])
  })

  it("reaches only agents that the token may send to, whichever way", async () => {
    const all = { register: ["*"], publish: ["*"], subscribe: ["*"] }
    const tokens = [
      { ...all, name: "owner", token: "one", send: ["*"] },
      { ...all, name: "other", token: "two", send: ["b"] },
    ]
    await using host = await startHost({ tokens })
    using owner = await withControl(host.address, { token: "one" })
    using other = await withControl(host.address, { token: "two" })
    await owner.worker.register("a")
    await owner.worker.register("b")
    const respond_to = `clientid=${other.worker.clientId}`
    const client = `clientid=${owner.worker.clientId}`
    for (const [rpc_id, destination, rpcMessage] of [
      ["1", "agentid=a/1", save],
      ["2", client, save],
      ["3", "agentid=b/1", save],
      ["4", client, packAny("ControlCall", { json: '{"action":"remove","agent":{"type":"a","key":"1"}}' })],
      ["5", client, packAny("ControlCall", { json: "not json" })],
      ["6", client, { type_url: "type.googleapis.com/agents.Unknown", value: Buffer.from("x") }],
      ["7", client, { type_url: "type.googleapis.com/agents.SaveStateRequest", value: Buffer.from([255]) }],
    ] as const) {
      other.control.write({ rpc_id, destination, respond_to, rpcMessage })
    }
    await until(() => other.received.length === 7)
    const errors = other.received.map((message) => JSON.stringify(contentOf(message)))
    expect(errors.filter((text) => text.includes("HOST_REFUSED"))).toHaveLength(7)
    expect(owner.received).toEqual([])
  })
})
