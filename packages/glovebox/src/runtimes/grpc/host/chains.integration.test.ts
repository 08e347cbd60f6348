import { describe, expect, it } from "vitest"
import { RawWorker } from "./raw-worker.test-kit.ts"
import { startHost } from "./start-host.test-kit.ts"

const CHAIN = "glovebox-chain"
const source = { type: "autogen", key: "1" }

/** A worker as AutoGen has it, one of ours with the agents that it calls, and a caller. */
async function startThree(address: string): Promise<Record<"autogen" | "ours" | "caller", RawWorker>> {
  const autogen = await RawWorker.open(address, { isLink: false })
  const ours = await RawWorker.open(address)
  const caller = await RawWorker.open(address)
  await autogen.register("autogen")
  await ours.register("ours")
  return { autogen, ours, caller }
}

describe("a request of AutoGen's worker, which tells no chain", () => {
  it("has the chain of the request that its agent handles, across several of its agents", async () => {
    await using host = await startHost()
    const { autogen, ours, caller } = await startThree(host.address)
    using _ = { [Symbol.dispose]: () => [autogen, ours, caller].forEach((one) => one.close()) }
    caller.post("autogen/1", { metadata: { [CHAIN]: "a:1,a:2" } })
    await autogen.request()
    autogen.post("autogen/2", { source })
    await autogen.request()
    autogen.post("ours/1", { source: { type: "autogen", key: "2" } })
    expect((await ours.request()).metadata).toEqual({ [CHAIN]: "a:1,a:2" })
  })

  it("has those of all that its agent handles, and none that it answered", async () => {
    await using host = await startHost()
    const { autogen, ours, caller } = await startThree(host.address)
    using _ = { [Symbol.dispose]: () => [autogen, ours, caller].forEach((one) => one.close()) }
    const ids: string[] = []
    for (const chain of ["a:1", "b:1", "c:1"]) {
      caller.post("autogen/1", { request_id: chain, metadata: { [CHAIN]: chain } })
      ids.push((await autogen.request()).request_id)
    }
    autogen.link.send({ response: { request_id: ids[1] ?? "", error: "no" } })
    await caller.answerTo("b:1")
    autogen.post("ours/1", { source })
    expect((await ours.request()).metadata).toEqual({ [CHAIN]: "a:1|c:1" })
  })

  it("has none where its agent handles nothing, another one does, or it names no agent", async () => {
    await using host = await startHost()
    const { autogen, ours, caller } = await startThree(host.address)
    using _ = { [Symbol.dispose]: () => [autogen, ours, caller].forEach((one) => one.close()) }
    caller.post("autogen/1", { metadata: { [CHAIN]: "a:1" } })
    await autogen.request()
    for (const other of [{ source: { type: "autogen", key: "2" } }, {}]) {
      autogen.post("ours/1", other)
      expect((await ours.request()).metadata).toEqual({})
    }
    // Nor may another worker speak for it.
    using stranger = await RawWorker.open(host.address, { isLink: false })
    stranger.post("ours/1", { source })
    expect((await ours.request()).metadata).toEqual({})
  })
})
