import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import {
  type InterventionHandler,
  type Message,
  RoutedAgent,
  SingleThreadedAgentRuntime,
  agentId,
  defineMessage,
  silentLogger,
  topicId,
  typeSubscription,
} from "../index.ts"

/** What a handler does with a message: a program that the property generates. */
type Step =
  | { readonly do: "pause" }
  | { readonly do: "send"; readonly to: number; readonly wait: boolean; readonly abandon: boolean }
  | { readonly do: "publish"; readonly topic: number }
  | { readonly do: "fail" }

const AGENTS = 4
const TOPICS = 2
const MAX_DEPTH = 4

const step = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Step>({ do: "pause" }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("send" as const),
      to: fc.nat(AGENTS - 1),
      wait: fc.boolean(),
      abandon: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("publish" as const), topic: fc.nat(TOPICS - 1) }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "fail" }) },
)

const scenario = fc.record({
  // By agent: what its handler does.
  programs: fc.array(fc.array(step, { maxLength: 3 }), { minLength: AGENTS, maxLength: AGENTS }),
  concurrency: fc.array(fc.constantFrom(1, 1, 2, Number.POSITIVE_INFINITY), {
    minLength: AGENTS,
    maxLength: AGENTS,
  }),
  subscribers: fc.array(fc.subarray([0, 1, 2, 3]), { minLength: TOPICS, maxLength: TOPICS }),
  asyncFactory: fc.array(fc.boolean(), { minLength: AGENTS, maxLength: AGENTS }),
  capacity: fc.constantFrom(1, 3, Number.POSITIVE_INFINITY),
  whenFull: fc.constantFrom("wait" as const, "reject" as const),
  interventions: fc.constantFrom("none", "allow", "drop-some", "throw-some"),
  roots: fc.array(fc.record({ to: fc.nat(AGENTS - 1), abortAfter: fc.option(fc.nat(3)) }), {
    minLength: 1,
    maxLength: 6,
  }),
  stopAfter: fc.option(fc.nat(6)),
})

type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never

const Task = defineMessage("Task", z.object({ serial: z.number(), sender: z.string(), depth: z.number() }))

/** Everything one run of a scenario has seen. */
class World {
  readonly runtime: SingleThreadedAgentRuntime
  readonly settled: Promise<unknown>[] = []
  /** By recipient: the serial numbers it handled, by sender, in order. */
  readonly handled = new Map<string, { serial: number; sender: string; depth: number }[]>()
  readonly scenario: Scenario
  #serial = 0

  constructor(scenario: Scenario) {
    this.scenario = scenario
    const { capacity, whenFull } = scenario
    this.runtime = new SingleThreadedAgentRuntime({
      mailbox: { capacity, whenFull },
      interventions: interventionsOf(scenario.interventions),
      logger: silentLogger,
    })
  }

  task(sender: string, depth: number): ReturnType<typeof Task> {
    return Task({ serial: this.#serial++, sender, depth })
  }

  watch(promise: Promise<unknown>): Promise<unknown> {
    const settled = promise.then(
      () => "ok",
      () => "error",
    )
    this.settled.push(settled)
    return settled
  }

  async build(): Promise<void> {
    for (let index = 0; index < AGENTS; index += 1) {
      const subscriptions = this.scenario.subscribers.flatMap((agents, topic) =>
        agents.includes(index) ? [typeSubscription(`t${topic}`)] : [],
      )
      const make = (): Actor => new Actor(this, this.scenario.programs[index] ?? [])
      const factory = this.scenario.asyncFactory[index] ? async () => (await turns(2), make()) : make
      await this.runtime.register(`a${index}`, factory, {
        subscriptions,
        concurrency: this.scenario.concurrency[index],
      })
    }
  }
}

class Actor extends RoutedAgent {
  constructor(world: World, program: readonly Step[]) {
    super("Runs a program.")
    this.on(Task, async ({ serial, sender, depth }, { signal }) => {
      const me = this.id.type
      const list = world.handled.get(me) ?? []
      world.handled.set(me, [...list, { serial, sender, depth }])
      if (depth >= MAX_DEPTH) return
      for (const action of program) {
        if (action.do === "pause") await turns(1)
        if (action.do === "fail") throw new Error("as the program says")
        if (action.do === "publish") {
          const message = world.task(me, depth + 1)
          await this.publish(message, topicId(`t${action.topic}`), { signal }).catch(() => {})
        }
        if (action.do === "send") {
          const controller = new AbortController()
          const message = world.task(me, depth + 1)
          const sent = world.watch(
            this.send(message, agentId(`a${action.to}`), { signal: controller.signal }),
          )
          if (action.abandon) controller.abort()
          if (action.wait) await sent
        }
      }
    })
  }
}

function interventionsOf(kind: string): InterventionHandler[] {
  if (kind === "none") return []
  const look = async (message: Message): Promise<{ action: "allow" } | { action: "drop" }> => {
    const serial = Task.is(message) ? message.serial : 0
    await turns(serial % 3)
    if (kind === "throw-some" && serial % 7 === 3) throw new Error("intervention")
    return kind === "drop-some" && serial % 5 === 2 ? { action: "drop" } : { action: "allow" }
  }
  return [{ onSend: look, onPublish: look, onResponse: () => ({ action: "allow" }) }]
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve()
}

async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than two seconds`)), 2_000)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

async function play(chosen: Scenario): Promise<World> {
  const world = new World(chosen)
  await world.build()
  world.runtime.start()
  for (const { to, abortAfter } of chosen.roots) {
    const controller = new AbortController()
    const sent = world.runtime.send(world.task("root", 0), agentId(`a${to}`), { signal: controller.signal })
    void world.watch(sent)
    if (abortAfter !== null) void turns(abortAfter * 3).then(() => controller.abort())
  }
  if (chosen.stopAfter !== null) {
    await turns(chosen.stopAfter * 4)
    await within("stop", world.runtime.stop({ graceMs: 1_500 }))
  }
  await within("idle", world.runtime.whenIdle())
  // A send made while the last ones settle is watched too, so the list may grow.
  for (let seen = -1; seen !== world.settled.length;) {
    seen = world.settled.length
    await within("settling every send", Promise.all(world.settled))
  }
  await within("close", world.runtime.close())
  return world
}

const send = (to: number, wait: boolean): Step => ({ do: "send", to, wait, abandon: false })

// Circles that were once missed: they close when something that is not part of them ends.
const MISSED: Scenario[] = [
  {
    programs: [[send(2, false), { do: "publish", topic: 0 }], [], [send(0, true)], []],
    concurrency: [1, 1, 1, 1],
    subscribers: [[2], []],
    asyncFactory: [false, false, false, false],
    capacity: 1,
    whenFull: "wait",
    interventions: "none",
    roots: [2, 0].map((to) => ({ to, abortAfter: null })),
    stopAfter: null,
  },
  {
    programs: [[], [], [send(0, false), send(3, false)], [send(3, true)]],
    concurrency: [1, 1, 1, 2],
    subscribers: [[], []],
    asyncFactory: [false, false, false, false],
    capacity: 1,
    whenFull: "wait",
    interventions: "throw-some",
    roots: [0, 2, 0, 0, 0, 2].map((to) => ({ to, abortAfter: null })),
    stopAfter: null,
  },
]

describe("any graph of agents", () => {
  it("settles every send, becomes idle, keeps order, delivers once, stops and closes", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (chosen) => {
        const { handled, settled } = await play(chosen)
        expect(settled.length).toBeGreaterThanOrEqual(chosen.roots.length)
        for (const list of handled.values()) {
          const serials = list.map(({ serial }) => serial)
          expect(new Set(serials).size).toBe(serials.length)
          // Only a request in a circle may overtake, and nothing from outside is part of one.
          const fromOutside = list.filter(({ sender }) => sender === "root").map(({ serial }) => serial)
          expect(fromOutside).toEqual(fromOutside.toSorted((a, b) => a - b))
        }
      }),
      { numRuns: 150, examples: MISSED.map((example) => [example]) },
    )
  })
})
