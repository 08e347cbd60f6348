import { startAutogenProgram } from "./autogen-program.ts"
import type { EventLog } from "./event-log.ts"
import type { LineProgram } from "./line-program.ts"
import type { Peer, PeerSendOptions, PlainMessage } from "./peer.ts"

/** AutoGen's worker, in a process of its own. */
export class AutogenPeer implements Peer {
  readonly language = "python"
  readonly name: string
  readonly program: LineProgram

  private constructor(name: string, program: LineProgram) {
    this.name = name
    this.program = program
  }

  static async start(name: string, hostAddress: string): Promise<AutogenPeer> {
    const program = startAutogenProgram("worker.py", hostAddress, name)
    await program.events.take({ event: "ready" })
    return new AutogenPeer(name, program)
  }

  get events(): EventLog {
    return this.program.events
  }

  async send(message: PlainMessage, to: string, { sender }: PeerSendOptions = {}): Promise<PlainMessage> {
    return (await this.program.call("send", { ...message, to, sender })) as PlainMessage
  }

  async publish(
    message: PlainMessage,
    topic: string,
    { sender }: { readonly sender?: string } = {},
  ): Promise<void> {
    await this.program.call("publish", { ...message, topic, sender })
  }

  async registerEcho(type: string): Promise<void> {
    await this.program.call("register", { type })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program[Symbol.asyncDispose]()
  }
}
