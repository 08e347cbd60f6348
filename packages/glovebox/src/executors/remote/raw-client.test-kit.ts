import { createHash, randomUUID } from "node:crypto"
import { onTestFinished } from "vitest"
import { type Message, type Reply, agentId } from "../../core/index.ts"
import type { Frame } from "./frame.ts"
import { CHUNK_BYTES, ExecutorControl, type ExecutorPut, ExecutorRun, ExecutorState } from "./messages.ts"
import { BLOCK, type Served, served } from "./remote.test-kit.ts"

/** A client that sends what it likes. */
export class RawClient {
  readonly #ends: Served
  readonly #key: string
  instance = randomUUID() as string

  constructor(ends: Served, key = randomUUID() as string) {
    this.#ends = ends
    this.#key = key
  }

  async start(): Promise<this> {
    const reply = await this.send(ExecutorControl({ id: randomUUID(), action: "start", waitMs: 1000 }))
    if (ExecutorState.is(reply)) ({ instance: this.instance } = reply)
    return this
  }

  async send(message: Message): Promise<Reply> {
    return this.#ends.runtime.send(message, agentId("executor", this.#key))
  }

  last(body: string | Buffer, id: string = randomUUID(), seq = 0): Parameters<typeof ExecutorPut>[0] {
    const sha256 = createHash("sha256").update(body).digest("hex")
    return { id, seq, data: Buffer.from(body).toString("base64"), sha256, instance: this.instance }
  }

  async run(body: string, id?: string): Promise<Reply> {
    return this.send(ExecutorRun({ ...this.last(body, id), events: "all", waitMs: 1000 }))
  }
}

/** A part that is as long as it may be. */
export const FULL = Buffer.alloc(CHUNK_BYTES)

export function fileFrame(path: string, text: string, sha256?: string): Frame {
  const hash = createHash("sha256").update(text).digest("hex")
  return { head: { path, executable: false, sha256: sha256 ?? hash }, blobs: [Buffer.from(text)] }
}

/** The body of a call that is in order. */
export const GOOD = JSON.stringify({ blocks: [BLOCK] })

/** The same as `served`, gone with the test. */
export async function serve(...args: Parameters<typeof served>): Promise<Served> {
  const ends = await served(...args)
  onTestFinished(() => ends[Symbol.asyncDispose]())
  return ends
}
