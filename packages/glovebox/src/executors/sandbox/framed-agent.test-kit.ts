import { expect } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import type { WorkspaceFile } from "../workspace-file.ts"
import { type AgentLine, FACTS, agentLine, say } from "./agent-line.test-kit.ts"
import { FramedAgent } from "./framed-agent.ts"
import type { Collected, RunEnd } from "./sandbox-agent.ts"

export interface SentFrame {
  readonly type: string
  readonly payload: Buffer
}

export function framesOf(sent: Buffer): SentFrame[] {
  const frames: SentFrame[] = []
  for (let at = 0; at + 5 <= sent.length;) {
    const end = at + 5 + sent.readUInt32BE(at + 1)
    frames.push({ type: String.fromCharCode(sent[at]!), payload: sent.subarray(at + 5, end) })
    at = end
  }
  return frames
}

export function typesOf(sent: Buffer): string {
  return framesOf(sent)
    .map(({ type }) => type)
    .join("")
}

export interface Greeted extends AgentLine {
  readonly agent: FramedAgent
}

export async function greeted(facts: object = FACTS): Promise<Greeted> {
  const line = agentLine()
  const greeting = FramedAgent.greet(line.channel)
  line.stdout(say.ready(facts))
  return { ...line, agent: await greeting }
}

export interface Started extends Greeted {
  readonly output: string[]
  readonly run: Promise<RunEnd>
}

export async function running(): Promise<Started> {
  const line = await greeted()
  const output: string[] = []
  const onOutput = (stream: string, bytes: Buffer): void => void output.push(`${stream}:${bytes.toString()}`)
  const run = line.agent.run({ argv: ["python3", "main.py"], how: "fork", onOutput })
  run.catch(() => {})
  return { ...line, output, run }
}

export async function collecting(
  limits = { maxFiles: 3, maxBytes: 100 },
): Promise<Greeted & { collect: Promise<Collected> }> {
  const line = await greeted()
  const collect = line.agent.collect(limits)
  collect.catch(() => {})
  return { ...line, collect }
}

export const file = (path: string, content: Uint8Array | string, executable = false): WorkspaceFile => ({
  path,
  content: Buffer.from(content as Uint8Array),
  executable,
})

/** Why the sandbox was found out; fails unless nothing of it is used any more. */
export async function findingOf(line: Greeted, work: Promise<unknown>): Promise<string> {
  const error = await expectFailure(work, "SANDBOX_BROKEN")
  expect(line.agent.lost.aborted).toBe(true)
  expect(line.agent.lost.reason).toBe(error)
  expect(line.isClosed()).toBe(true)
  await expectFailure(line.agent.collect({ maxFiles: 1, maxBytes: 1 }), "SANDBOX_BROKEN")
  return error.message
}

export const EVERY_ANSWER: Readonly<Record<string, Buffer>> = {
  R: say.ready(),
  o: say.out("x"),
  e: say.err("x"),
  x: say.exit(1),
  f: say.file("a", 1),
  d: say.data("x"),
  v: say.gone("a"),
  c: say.collected(),
  "!X": say.failed({ op: "X", message: "no" }),
  "!C": say.failed({ op: "C", message: "no" }),
}
