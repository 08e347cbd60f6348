import { GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntimeHost } from "../../runtimes/grpc/index.ts"

/** A host, a worker for the sandbox and one for its client, with sockets between them. */
export class GrpcEnds implements AsyncDisposable {
  readonly host: GrpcWorkerAgentRuntimeHost
  readonly far: GrpcWorkerAgentRuntime
  readonly near: GrpcWorkerAgentRuntime

  private constructor(host: GrpcWorkerAgentRuntimeHost) {
    this.host = host
    this.far = new GrpcWorkerAgentRuntime({ hostAddress: host.address })
    this.near = new GrpcWorkerAgentRuntime({ hostAddress: host.address })
  }

  static async start(): Promise<GrpcEnds> {
    // A worker that is gone has lost its place soon.
    const host = new GrpcWorkerAgentRuntimeHost({ address: "127.0.0.1:0", graceMs: 1500, heartbeatMs: 250 })
    await host.start()
    const ends = new GrpcEnds(host)
    await Promise.all([ends.far.start(), ends.near.start()])
    return ends
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.near.close(), this.far.close()])
    await this.host.stop({ graceMs: 0 })
  }
}
