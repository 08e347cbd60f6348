import { type AddressInfo, createServer } from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import {
  ClosureAgent,
  RoutedAgent,
  agentId,
  silentLogger,
  topicId,
  typeSubscription,
} from "../../core/index.ts"
import { Echo, Ping, Pong, makeWorker, ping, startHost, startWorker } from "./grpc-runtime.test-kit.ts"
import { type GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntimeHost } from "./index.ts"
import { type TcpGate, tcpGate } from "./tcp-gate.test-kit.ts"

async function gateTo(address: string): Promise<TcpGate> {
  const way = await tcpGate(address)
  onTestFinished(async () => way[Symbol.asyncDispose]())
  return way
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise((resolve) => {
      setTimeout(resolve, 5)
    })
  }
}

describe("a connection that is lost", () => {
  it("and comes back in time loses nothing, doubles nothing, and keeps the order", async () => {
    const host = await startHost({ graceMs: 5000 })
    const ways = [await gateTo(host.address), await gateTo(host.address)] as const
    const [caller, callee] = [await startWorker(ways[0].address), await startWorker(ways[1].address)]
    const sent: string[] = []
    const heard: string[] = []
    await callee.register(
      "echo",
      () =>
        new ClosureAgent([Ping], ({ text }) => {
          sent.push(text)
          return Pong({ text })
        }),
    )
    await callee.register("ear", () => new ClosureAgent([Ping], ({ text }) => void heard.push(text)), {
      subscriptions: [typeSubscription("news")],
    })
    const texts = Array.from({ length: 400 }, (_, index) => String(index))
    const all: Promise<unknown>[] = []
    for (const text of texts) {
      all.push(caller.send(ping(text), agentId("echo")), caller.publish(ping(text), topicId("news")))
      if (Number(text) % 50 === 25) ways[Number(text) % 100 === 25 ? 0 : 1].cut()
      if (Number(text) % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const replies = await Promise.all(all)
    expect(
      replies.filter((reply) => Pong.is(reply)).map((reply) => (reply as { text: string }).text),
    ).toEqual(texts)
    await caller.whenIdle()
    expect(sent).toEqual(texts)
    expect(heard).toEqual(texts)
    expect(caller.status().reconnects).toBeGreaterThan(0)
  })

  it("and stays away ends what waits, takes the agents out, and works again when it is back", async () => {
    const host = await startHost()
    const way = await gateTo(host.address)
    const worker = await startWorker(way.address)
    const other = await startWorker(host.address)
    const begun = gate()
    const aborted = gate()
    let closed = 0
    class Slow extends RoutedAgent {
      constructor() {
        super("Takes its time")
        this.on(Ping, async ({ text }, { signal }) => {
          if (text === "quick") return Pong({ text })
          begun.open()
          return await new Promise<never>((_resolve, reject) => {
            signal.addEventListener("abort", () => {
              aborted.open()
              reject(signal.reason)
            })
          })
        })
      }
      override close(): void {
        closed += 1
      }
    }
    await worker.register("slow", () => new Slow())
    await other.register("echo", () => new Echo())
    await other.register("never", () => new ClosureAgent([Ping], async () => new Promise<never>(() => {})))
    const handled = other.send(ping(""), agentId("slow")).catch((error: unknown) => error)
    await begun.promise
    const waiting = worker.send(ping(""), agentId("never"))
    await until(() => other.status().outstanding === 1)
    way.close()
    await until(() => worker.status().state === "connecting")
    const held = worker.send(ping("held"), agentId("echo"))
    await expectFailure(waiting, "CONNECTION_LOST")
    await expectFailure(held, "HOST_UNAVAILABLE")
    await aborted.promise
    await expectFailure(worker.send(ping(""), agentId("echo")), "HOST_UNAVAILABLE")
    await expectFailure(worker.publish(ping("")), "HOST_UNAVAILABLE")
    expect(await handled).toMatchObject({ code: "WORKER_LOST" })
    expect(closed).toBe(1)
    way.open()
    await until(() => worker.status().state === "connected")
    expect(await other.send(ping("quick"), agentId("slow"))).toEqual(Pong({ text: "quick" }))
    expect(await worker.send(ping("b"), agentId("echo", "k"))).toEqual(Pong({ text: "b from k" }))
  })

  it("without a word is found by the silence", async () => {
    const host = await startHost()
    const way = await gateTo(host.address)
    const worker = await startWorker(way.address)
    await worker.register("echo", () => new Echo())
    way.freeze()
    await until(() => worker.status().reconnects > 0 && worker.status().state === "connected")
    expect(await worker.send(ping("a"), agentId("echo", "k"))).toEqual(Pong({ text: "a from k" }))
  })

  it("only seemingly, because the process stood still, works again", async () => {
    const host = await startHost({ graceMs: 1000, heartbeatMs: 60_000 })
    const [worker, caller] = [await startWorker(host.address), await startWorker(host.address)]
    let closed = 0
    class Closing extends Echo {
      override close(): void {
        closed += 1
      }
    }
    await worker.register("echo", () => new Closing())
    await caller.send(ping("a"), agentId("echo", "k"))
    // Longer than the agents are surely the worker's own, and the host stands still too: it notices nothing.
    const endsAt = performance.now() + 850
    while (performance.now() < endsAt);
    await until(() => closed === 1 && [worker, caller].every((one) => one.status().state === "connected"))
    expect(await caller.send(ping("b"), agentId("echo", "k"))).toEqual(Pong({ text: "b from k" }))
  })

  it("is not lost by a grace time that is shorter than the host's heartbeat", async () => {
    const host = await startHost({ graceMs: 2000, heartbeatMs: 60_000 })
    const worker = await startWorker(host.address)
    let closed = 0
    class Closing extends Echo {
      override close(): void {
        closed += 1
      }
    }
    await worker.register("echo", () => new Closing())
    await worker.send(ping("a"), agentId("echo", "k"))
    await new Promise((resolve) => setTimeout(resolve, 1800))
    expect([worker.status().reconnects, closed]).toEqual([0, 0])
  })

  it("to a host that starts anew tells it all, and the agents live on", async () => {
    const first = await startHost()
    const { address } = first
    const [one, two] = [await startWorker(address), await startWorker(address)]
    let built = 0
    const heard: string[] = []
    class Counter extends RoutedAgent {
      #count = 0
      constructor() {
        super("Counts")
        built += 1
        this.on(Ping, ({ text }) => {
          heard.push(text)
          this.#count += 1
          return Pong({ text: String(this.#count) })
        })
      }
    }
    await two.register("counter", () => new Counter(), { subscriptions: [typeSubscription("news")] })
    await two.registerInstance(agentId("single", "one"), new Echo())
    expect(await one.send(ping("a"), agentId("counter"))).toEqual(Pong({ text: "1" }))
    await first.stop({ graceMs: 0 })
    const second = new GrpcWorkerAgentRuntimeHost({
      address,
      graceMs: 2000,
      heartbeatMs: 100,
      logger: silentLogger,
    })
    await second.start()
    onTestFinished(async () => second.stop({ graceMs: 0 }))
    await until(() => one.status().state === "connected" && two.status().state === "connected")
    expect(await one.send(ping("b"), agentId("counter"))).toEqual(Pong({ text: "2" }))
    await one.publish(ping("c"), topicId("news", "default"))
    await one.whenIdle()
    expect(heard).toEqual(["a", "b", "c"])
    expect(built).toBe(1)
    expect(await one.send(ping("x"), agentId("single", "one"))).toEqual(Pong({ text: "x from one" }))
  })
})

describe("a host that takes connections and says nothing", () => {
  it("is told as one that is not there, in time", async () => {
    const server = createServer(() => {})
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void server.close())
    const worker = makeWorker(`127.0.0.1:${(server.address() as AddressInfo).port}`, {
      connectTimeoutMs: 200,
    })
    await expectFailure(worker.start(), "HOST_UNAVAILABLE")
  })
})

describe("a worker that drains", () => {
  it("finishes what it has, and others take over its agents", async () => {
    const host = await startHost()
    const [caller, one] = [await startWorker(host.address), await startWorker(host.address)]
    const [begun, free] = [gate(), gate()]
    const at = (name: string) => () =>
      new ClosureAgent([Ping], async ({ text }) => {
        if (text === "slow") {
          begun.open()
          await free.promise
        }
        return Pong({ text: name })
      })
    await one.register("a", at("one"))
    const slow = caller.send(ping("slow"), agentId("a"))
    await begun.promise
    const two = await startWorker(host.address)
    await two.register("a", at("two"))
    const drained = one.drain()
    const behind = caller.send(ping("quick"), agentId("a"))
    free.open()
    await drained
    expect(await slow).toEqual(Pong({ text: "one" }))
    expect((await behind) && Pong.is(await behind)).toBe(true)
    await one.close()
    expect(await caller.send(ping("quick"), agentId("a"))).toEqual(Pong({ text: "two" }))
  })
})

describe("agents of several workers", () => {
  it("live at one of them each, and elsewhere when it is gone", async () => {
    const host = await startHost()
    const caller = await startWorker(host.address)
    const workers = new Map<string, GrpcWorkerAgentRuntime>()
    for (const name of ["one", "two", "three"]) {
      const worker = makeWorker(host.address)
      await worker.register("a", () => new ClosureAgent([Ping], () => Pong({ text: name })))
      await worker.start()
      workers.set(name, worker)
    }
    const ask = async (key: number): Promise<string> =>
      (await caller.send(ping(""), agentId("a", String(key)), { expect: Pong })).text
    const keys = Array.from({ length: 30 }, (_, key) => key)
    const before = await Promise.all(keys.map(ask))
    expect(new Set(before)).toEqual(new Set(workers.keys()))
    expect(await Promise.all(keys.map(ask))).toEqual(before)
    await workers.get("two")?.close()
    const after = await Promise.all(keys.map(ask))
    expect(after.filter((name) => name === "two")).toEqual([])
    const stayed = keys.filter((key) => before[key] !== "two")
    expect(stayed.map((key) => after[key])).toEqual(stayed.map((key) => before[key]))
  })
})
