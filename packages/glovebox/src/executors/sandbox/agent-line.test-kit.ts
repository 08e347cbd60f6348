import { duplexPair } from "node:stream"
import { engineChannel } from "../docker/engine-channel.ts"
import type { Channel } from "./channel.ts"
import { encodeFrame, encodeJsonFrame } from "./agent-frames.ts"
import type { Facts } from "./agent-answers.ts"

/** A frame as the engine sends it for an attached container. */
export function engineFrame(stream: number, content: Uint8Array): Buffer {
  const header = Buffer.alloc(8)
  header[0] = stream
  header.writeUInt32BE(content.length, 4)
  return Buffer.concat([header, content])
}

/** A real channel, and the engine's end of its connection in the hands of a test. */
export interface AgentLine {
  readonly channel: Channel
  /** All that the host has sent. */
  sent(): Buffer
  /** Waits until the host has sent what the test asks for. */
  heard(isEnough: (sent: Buffer) => boolean): Promise<void>
  stdout(...parts: readonly (Uint8Array | string)[]): void
  stderr(...parts: readonly (Uint8Array | string)[]): void
  /** The container ends. */
  end(): void
  /** The connection breaks. */
  fail(error: Error): void
  /** Whether the host has let go of the connection. */
  isClosed(): boolean
}

export function agentLine(): AgentLine {
  const [host, engine] = duplexPair()
  const sent: Buffer[] = []
  engine.on("data", (chunk: Buffer) => sent.push(chunk))
  engine.on("error", () => {})
  const channel = engineChannel(host)
  const write = (stream: number, parts: readonly (Uint8Array | string)[]): void => {
    if (engine.destroyed || engine.writableEnded) return
    engine.write(engineFrame(stream, Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array)))))
  }
  return {
    channel,
    sent: () => Buffer.concat(sent),
    heard: async (isEnough) => {
      for (let count = 0; count < 1000; count += 1) {
        if (isEnough(Buffer.concat(sent))) return
        await turn()
      }
      throw new Error(`The host never sent it, but ${Buffer.concat(sent).toString("latin1").slice(0, 500)}`)
    },
    stdout: (...parts) => write(1, parts),
    stderr: (...parts) => write(2, parts),
    end: () => void engine.end(),
    fail: (error) => void host.destroy(error),
    isClosed: () => host.destroyed,
  }
}

/** Lets everything that can go on go on, for one turn of the loop. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

/** How a promise stands after some turns. */
export async function stateOf(
  promise: Promise<unknown>,
  turns = 12,
): Promise<"resolved" | "rejected" | "pending"> {
  const settled = promise.then(
    () => "resolved" as const,
    () => "rejected" as const,
  )
  const late = (async () => {
    for (let count = 0; count < turns; count += 1) await turn()
    return "pending" as const
  })()
  return Promise.race([settled, late])
}

/** What the framed agent says of a container that is as deny-all asks. */
export const FACTS: Facts = {
  version: 1,
  python: "3.11.2",
  uid: 65_532,
  gid: 65_532,
  status: {
    NoNewPrivs: "1",
    Seccomp: "2",
    CapInh: "0000000000000000",
    CapPrm: "0000000000000000",
    CapEff: "0000000000000000",
    CapBnd: "0000000000000000",
    CapAmb: "0000000000000000",
    Uid: "65532\t65532\t65532\t65532",
    Gid: "65532\t65532\t65532\t65532",
    Groups: "65532",
  },
  programs: { python3: "/usr/bin/python3", node: null },
  interfaces: ["lo"],
  root: { readOnly: true },
  workspace: { bytes: 256 * 1024 ** 2, files: 65_536 },
  cgroup: { version: 2, memory: 512 * 1024 ** 2, swap: 0, pids: 128, cpus: 1 },
  ready: true,
}

/** The framed agent's answers, as it would write them. */
export const say = {
  ready: (facts: object = FACTS): Buffer => encodeJsonFrame("R", facts),
  out: (text: string): Buffer => encodeFrame("o", Buffer.from(text)),
  err: (text: string): Buffer => encodeFrame("e", Buffer.from(text)),
  exit: (id: number, code = 0, limits: readonly string[] = []): Buffer =>
    encodeJsonFrame("x", { id, code, signal: null, limits }),
  killed: (id: number, signal = 9): Buffer => encodeJsonFrame("x", { id, code: null, signal, limits: [] }),
  file: (path: string, size: number, mode = 0o644): Buffer => encodeJsonFrame("f", { path, size, mode }),
  data: (content: Uint8Array | string): Buffer => encodeFrame("d", Buffer.from(content as Uint8Array)),
  gone: (path: string): Buffer => encodeJsonFrame("v", { path }),
  collected: (over = false): Buffer => encodeJsonFrame("c", { files: 0, bytes: 0, skipped: 0, over }),
  failed: (fields: object): Buffer => encodeJsonFrame("!", fields),
}
