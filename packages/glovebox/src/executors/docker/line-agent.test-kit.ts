import { type TarEntry, packTar } from "modern-tar"
import type { WorkspaceFile } from "../workspace-file.ts"
import { type AgentLine, agentLine } from "../sandbox/agent-line.test-kit.ts"
import { LineAgent } from "./line-agent.ts"
import type { Collected, CollectLimits, RunEnd } from "../sandbox/sandbox-agent.ts"

export interface Greeted extends AgentLine {
  readonly agent: LineAgent
}

export async function greeted(): Promise<Greeted> {
  const line = agentLine()
  const greeting = LineAgent.greet(line.channel)
  line.stdout("ready 1 sh=/bin/sh node=\n")
  return { ...line, agent: await greeting }
}

// By agent: the markers that tests have met.
const told = new WeakMap<LineAgent, Set<string>>()

/** The marker of the newest piece of work, which no other had. */
export async function markerOf(line: Greeted, word: "run" | "get"): Promise<string> {
  const known = told.get(line.agent) ?? new Set<string>()
  told.set(line.agent, known)
  const pattern = new RegExp(`${word} ([0-9a-f]{48})[ \\n]`, "g")
  const find = (sent: Buffer): string | undefined =>
    [...sent.toString("latin1").matchAll(pattern)]
      .map(([, marker]) => marker!)
      .find((each) => !known.has(each))
  await line.heard((sent) => find(sent) !== undefined)
  const marker = find(line.sent())!
  known.add(marker)
  return marker
}

export interface Started extends Greeted {
  readonly run: Promise<RunEnd>
  readonly output: string[]
  readonly marker: string
}

export async function running(): Promise<Started> {
  const line = await greeted()
  const output: string[] = []
  const onOutput = (stream: string, bytes: Buffer): void => void output.push(`${stream}:${bytes.toString()}`)
  const run = line.agent.run({ argv: ["sh", "main.sh"], how: "exec", onOutput })
  run.catch(() => {})
  return { ...line, output, run, marker: await markerOf(line, "run") }
}

export const file = (path: string, text: string, executable = false): WorkspaceFile => ({
  path,
  content: Buffer.from(text),
  executable,
})

export const entry = (name: string, body = "", fields: Partial<TarEntry["header"]> = {}): TarEntry => ({
  header: { name, size: Buffer.byteLength(body), type: "file", mode: 0o644, ...fields },
  body,
})

/** Tells apart what differs, and not a Buffer from the Uint8Array it is. */
export const plain = (files: readonly WorkspaceFile[]): object[] =>
  files.map(({ content, ...rest }) => ({ ...rest, text: Buffer.from(content).toString() }))

export const plenty: CollectLimits = { maxFiles: 10, maxBytes: 1000 }

/** Asks for the files, and answers with this archive. */
export async function collect(
  line: Greeted,
  archive: Uint8Array,
  { limits = plenty, status = 0 }: { limits?: CollectLimits; status?: number } = {},
): Promise<Collected> {
  const collecting = line.agent.collect(limits)
  collecting.catch(() => {})
  const marker = await markerOf(line, "get")
  line.stdout(archive, `${marker} ${status} -\n`)
  line.stderr(`${marker}\n`)
  const collected = await collecting
  line.agent.delivered()
  return collected
}

export async function packed(...entries: readonly TarEntry[]): Promise<Uint8Array> {
  return packTar([...entries])
}
