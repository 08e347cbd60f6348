import { GrpcWorkerAgentRuntimeHost, type GrpcWorkerAgentRuntimeHostOptions } from "glovebox/runtimes/grpc"
import { startAutogenProgram } from "./autogen-program.ts"

export interface StartedHost extends AsyncDisposable {
  readonly address: string
}

/** AutoGen's host, in a process of its own; at a free port, or again where one was. */
export async function startAutogenHost(address?: string): Promise<StartedHost> {
  const program = startAutogenProgram("host.py", ...(address === undefined ? [] : [address]))
  const ready = await program.events.take({ event: "ready" })
  return { address: String(ready["address"]), [Symbol.asyncDispose]: () => program.kill() }
}

export async function startGloveboxHost(
  options: Partial<GrpcWorkerAgentRuntimeHostOptions> = {},
): Promise<GrpcWorkerAgentRuntimeHost> {
  const host = new GrpcWorkerAgentRuntimeHost({ address: "127.0.0.1:0", ...options })
  await host.start()
  return host
}

export type HostKind = "autogen" | "glovebox"

export function startHost(kind: HostKind): Promise<StartedHost> {
  return kind === "autogen" ? startAutogenHost() : startGloveboxHost()
}
