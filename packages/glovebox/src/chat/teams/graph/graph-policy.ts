import type { JsonObject } from "../../../core/index.ts"
import type { ChatMessage } from "../../messages/index.ts"
import type { Floor, NextSpeakers, SpeakerPolicy } from "../speaker-policy.ts"
import type { DiGraph, DiGraphEdge } from "./di-graph.ts"
import { isTaken } from "./is-taken.ts"
import { type GraphState, readGraphState } from "./graph-state.ts"
import { Joins, type Past } from "./joins.ts"

/** A turn that has not ended: whoever is interrupted in it still has it before them. */
interface Due {
  readonly node: string
  readonly turn: number
  readonly past: Past
}

/** Lets each node speak as soon as its own edges allow it. */
export class GraphPolicy implements SpeakerPolicy {
  readonly #graph: DiGraph
  readonly #joins: Joins
  #phase: GraphState["phase"] = "new"
  #due: Due[] = []
  /** How often each node was given a turn. */
  #turns = new Map<string, number>()
  /** Nodes that said something that none of their edges was for. */
  #unmatched = new Set<string>()

  constructor(graph: DiGraph) {
    this.#graph = graph
    this.#joins = new Joins(graph)
  }

  begin(task: readonly ChatMessage[]): void {
    // A condition may have ended the last run with its last turn: then only a task is a reason to begin anew.
    const isOver = this.#phase === "under-way" && this.#due.length === 0 && task.length > 0
    if (this.#phase === "under-way" && !isOver) return
    this.reset()
    this.#phase = "under-way"
    for (const node of this.#graph.startNodes) this.#activate(node, new Map())
  }

  next({ speaking }: Floor): NextSpeakers {
    const free = new Set(this.#due.map(({ node }) => node).filter((node) => !speaking.has(node)))
    if (free.size > 0 || speaking.size > 0) return { speakers: [...free] }
    this.#phase = "complete"
    return { stop: this.#describeEnd() }
  }

  finished(speaker: string, said: readonly ChatMessage[]): void {
    const due = this.#due.find(({ node }) => node === speaker)
    const edges = this.#graph.nodes.get(speaker)?.edges ?? []
    if (!due) return
    // Before anything is changed: a condition that throws leaves the turn to be taken again.
    const taken = edges.filter((edge) => isTaken(speaker, edge, said.at(-1)))
    this.#due = this.#due.filter((other) => other !== due)
    if (edges.length > 0 && taken.length === 0) this.#unmatched.add(speaker)
    const past: Past = new Map([...due.past, [speaker, due.turn]])
    for (const { target, activationGroup } of withoutTwins(taken)) {
      const leads = this.#joins.arrive(target, activationGroup, speaker, past)
      if (leads) this.#activate(target, leads)
    }
  }

  reset(): void {
    this.#phase = "new"
    this.#due = []
    this.#turns = new Map()
    this.#unmatched = new Set()
    this.#joins.clear()
  }

  saveState(): JsonObject {
    const state: GraphState = {
      phase: this.#phase,
      due: this.#due.map(({ node, turn, past }) => ({ node, turn, past: [...past] })),
      turns: [...this.#turns],
      unmatched: [...this.#unmatched],
      ...this.#joins.save(),
    }
    return state
  }

  loadState(state: JsonObject): void {
    const read = readGraphState(this.#graph, state)
    this.#phase = read.phase
    this.#due = read.due.map(({ node, turn, past }) => ({ node, turn, past: new Map(past) }))
    this.#turns = new Map(read.turns)
    this.#unmatched = new Set(read.unmatched)
    this.#joins.load(read)
  }

  #activate(node: string, past: Past): void {
    const turn = (this.#turns.get(node) ?? 0) + 1
    this.#turns.set(node, turn)
    this.#due.push({ node, turn, past })
  }

  #describeEnd(): string {
    const reasons = [
      ...[...this.#unmatched].map((name) => `no edge of ${name} was for what it said`),
      ...this.#joins.waiting.map(({ target, missing }) => `${target} still waited for ${missing.join(", ")}`),
    ]
    return `The graph is at its end${reasons.length === 0 ? "" : `: ${reasons.join("; ")}`}.`
  }
}

/** Two edges into one group, taken in one turn, arrive once. */
function withoutTwins(edges: readonly DiGraphEdge[]): readonly DiGraphEdge[] {
  return edges.filter(
    ({ target, activationGroup }, at) =>
      edges.findIndex((other) => other.target === target && other.activationGroup === activationGroup) === at,
  )
}
