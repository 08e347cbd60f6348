import { beforeEach, describe, expect, it } from "vitest"
import { ApprovalGate, type ApprovalGateOptions } from "../../governance/approval/index.ts"
import { ReplayChatCompletionClient } from "../../models/replay/index.ts"
import { MessageFilterAgent } from "../agents/message-filter-agent.ts"
import { SocietyOfMindAgent } from "../agents/society-of-mind-agent.ts"
import { Clerk, type Office, approve, lines, moveTo } from "../clerk.test-kit.ts"
import { MaxMessageTermination } from "../conditions/index.ts"
import { toText } from "../messages/index.ts"
import { ScriptedAgent } from "../scripted-agent.test-kit.ts"
import { NO_USAGE, type TaskResult, addUsage } from "../task/index.ts"
import { DiGraphBuilder, GraphFlow } from "./graph/index.ts"
import { SATISFIED, ledgerText } from "./magentic-one/ledger.test-kit.ts"
import {
  type BaseGroupChat,
  MagenticOneGroupChat,
  RoundRobinGroupChat,
  SelectorGroupChat,
  Swarm,
} from "./index.ts"

type Make = (clerk: Clerk, answers: readonly string[]) => BaseGroupChat

interface Kind {
  readonly kind: string
  readonly make: Make
  readonly handsOffTo?: string
  /** What the models of the team itself answer, before and after the wait; one call more fails. */
  readonly before?: readonly string[]
  readonly after?: readonly string[]
}

const model = (answers: readonly string[]): ReplayChatCompletionClient =>
  new ReplayChatCompletionClient(answers)
/** Says what it heard, so that it shows in the result. */
const helper = (): ScriptedAgent =>
  new ScriptedAgent("helper", ({ heard }) => `heard ${heard.map(toText).join("+")}`)
const opener = (): ScriptedAgent => new ScriptedAgent("opener", () => "begin")

const kinds: readonly Kind[] = [
  {
    kind: "RoundRobinGroupChat",
    make: (clerk) => new RoundRobinGroupChat({ participants: [clerk, helper()], maxTurns: 2 }),
  },
  {
    kind: "SelectorGroupChat",
    make: (clerk, answers) =>
      new SelectorGroupChat({
        participants: [helper(), clerk, new ScriptedAgent("other")],
        modelClient: model(answers),
        maxTurns: 2,
      }),
    before: ["clerk"],
    after: ["helper"],
  },
  {
    kind: "Swarm",
    make: (clerk) => new Swarm({ participants: [clerk, helper()], maxTurns: 2 }),
    handsOffTo: "helper",
  },
  {
    kind: "GraphFlow",
    make: (clerk) => new GraphFlow({ graph: new DiGraphBuilder().addEdge(clerk, helper()) }),
  },
  {
    kind: "MagenticOneGroupChat",
    make: (clerk, answers) =>
      new MagenticOneGroupChat({ participants: [clerk, helper()], modelClient: model(answers) }),
    before: ["the facts", "the plan", ledgerText({ next: "clerk", instruction: "Tidy." })],
    after: [ledgerText({ next: "helper", instruction: "Help." }), SATISFIED, "Done."],
  },
  {
    kind: "a team in a team in a team",
    make: (clerk) => {
      const inner = new RoundRobinGroupChat({
        name: "inner",
        participants: [opener(), clerk],
        // The task, the opener, the clerk.
        terminationCondition: new MaxMessageTermination(3),
      })
      const middle = new RoundRobinGroupChat({ name: "middle", participants: [inner], maxTurns: 1 })
      return new RoundRobinGroupChat({ participants: [middle, helper()], maxTurns: 2 })
    },
  },
  {
    kind: "a team behind a SocietyOfMindAgent",
    make: (clerk, answers) => {
      const team = new SelectorGroupChat({
        participants: [opener(), clerk],
        modelClient: model(answers),
        allowRepeatedSpeaker: true,
        maxTurns: 2,
      })
      const modelClient = new ReplayChatCompletionClient([
        (messages) => messages.map(({ content }) => JSON.stringify(content)).join("|"),
      ])
      const society = new SocietyOfMindAgent({ name: "society", team, modelClient })
      return new RoundRobinGroupChat({ participants: [society, helper()], maxTurns: 2 })
    },
    before: ["opener", "clerk"],
  },
  {
    kind: "an agent behind a MessageFilterAgent",
    make: (clerk) => {
      const filter = { perSource: [{ source: "user" }] }
      const filtered = new MessageFilterAgent({ wrappedAgent: clerk, filter })
      return new RoundRobinGroupChat({ participants: [filtered, helper()], maxTurns: 2 })
    },
  },
]

let ledger: string[] = []

beforeEach(() => {
  ledger = []
})

function office(
  { make, handsOffTo }: Kind,
  answers: readonly string[],
  options: ApprovalGateOptions = { suspend: true },
): Office<BaseGroupChat> {
  const gate = new ApprovalGate(options)
  const note = (line: string): unknown => ledger.push(line)
  const clerk = new Clerk("clerk", gate, note, handsOffTo === undefined ? {} : { handsOffTo })
  return { gate, runner: make(clerk, answers) }
}

/** The same run with somebody who answers at once. */
async function atOnce(kind: Kind): Promise<{ readonly result: TaskResult; readonly ledger: string[] }> {
  const { before = [], after = [] } = kind
  await using team = office(kind, [...before, ...after], { provider: () => ({ decision: "approve" }) }).runner
  return { result: await team.run("tidy up"), ledger: ledger.splice(0) }
}

describe.each(kinds)("$kind", (kind) => {
  it("waits in one process, goes on in another, and comes to what it would have come to at once", async () => {
    const whole = await atOnce(kind)
    expect(whole.ledger).toEqual([expect.stringMatching(/^clerk thinks of .*tidy up/u), "clerk acts"])

    const first = office(kind, kind.before ?? [])
    await using team = first.runner
    const begun = await team.run("tidy up")
    expect(begun).toMatchObject({ stopKind: "suspended", pending: [first.gate.pending()[0]?.id] })
    expect(begun.stopReason).toContain(`waits for approval ${begun.pending?.[0]}.`)

    const second = office(kind, kind.after ?? [])
    await using other = second.runner
    await moveTo(first, second)
    const still = await other.run()
    expect(still).toMatchObject({ stopKind: "suspended", pending: begun.pending, messages: [] })

    approve(second.gate, still)
    const ended = await other.run()
    const { stopKind, stopReason, usage } = whole.result
    expect(ended).toMatchObject({ stopKind, stopReason })
    expect(ended.pending).toBeUndefined()
    const messages = [...begun.messages, ...ended.messages]
    expect(lines({ messages })).toEqual(lines(whole.result))
    expect([begun, still, ended].map((part) => part.usage).reduce(addUsage, NO_USAGE)).toEqual(usage)
    // Models, effects: each once. A model of the team that is asked once more has no answer.
    expect(ledger).toEqual(whole.ledger)
  })

  it("goes on with what it was at when there is a new task", async () => {
    const whole = await atOnce(kind)
    const { gate, runner } = office(kind, [...(kind.before ?? []), ...(kind.after ?? [])])
    await using team = runner
    const begun = await team.run("tidy up")
    approve(gate, begun)
    const ended = await team.run("and hurry")
    expect(ended.stopKind).toBe(whole.result.stopKind)
    const speakers = ({ messages }: TaskResult): string[] => messages.map(({ source }) => source)
    expect([...speakers(begun), ...speakers(ended).slice(1)]).toEqual(speakers(whole.result))
    expect(ledger).toEqual(whole.ledger)
  })
})
