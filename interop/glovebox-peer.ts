import { messageTypeOf, parseAgentId, parseTopicId, silentLogger } from "glovebox/core"
import { GrpcWorkerAgentRuntime, type GrpcWorkerAgentRuntimeOptions } from "glovebox/runtimes/grpc"
import { EventLog } from "./event-log.ts"
import { Echo, registerAgents } from "./glovebox-agents.ts"
import { readMessage } from "./messages.ts"
import type { Peer, PeerSendOptions, PlainMessage } from "./peer.ts"

/** Our worker. */
export class GloveboxPeer implements Peer {
  readonly language = "typescript"
  readonly name: string
  readonly events: EventLog
  readonly runtime: GrpcWorkerAgentRuntime

  private constructor(name: string, runtime: GrpcWorkerAgentRuntime, events: EventLog) {
    this.name = name
    this.runtime = runtime
    this.events = events
  }

  static async start(
    name: string,
    hostAddress: string,
    options: Partial<GrpcWorkerAgentRuntimeOptions> = {},
  ): Promise<GloveboxPeer> {
    const events = new EventLog()
    const runtime = new GrpcWorkerAgentRuntime({ logger: silentLogger, ...options, hostAddress })
    await runtime.start()
    await registerAgents(runtime, name, events)
    return new GloveboxPeer(name, runtime, events)
  }

  async send(
    message: PlainMessage,
    to: string,
    { sender, timeoutMs }: PeerSendOptions = {},
  ): Promise<PlainMessage> {
    const reply = await this.runtime.send(readMessage(message), parseAgentId(to), {
      sender: sender === undefined ? undefined : parseAgentId(sender),
      timeoutMs,
    })
    return { type: messageTypeOf(reply)?.typeName ?? "nothing", message: { ...reply } }
  }

  async publish(
    message: PlainMessage,
    topic: string,
    { sender }: { readonly sender?: string } = {},
  ): Promise<void> {
    await this.runtime.publish(readMessage(message), parseTopicId(topic), {
      sender: sender === undefined ? undefined : parseAgentId(sender),
    })
  }

  async registerEcho(type: string): Promise<void> {
    await this.runtime.register(type, () => new Echo())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.runtime.close()
  }
}
