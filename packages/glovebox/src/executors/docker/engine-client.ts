import type { Agent } from "node:http"
import type Docker from "dockerode"
import type { EngineAddress } from "./engine-address.ts"

/** The client library with a connection to this address; loaded on first use, as it is large. */
export async function loadClient(address: EngineAddress, agent: Agent): Promise<Docker> {
  const { default: Client } = await import("dockerode")
  return new Client(clientOptions(address, agent))
}

// The client passes the agent on to Node's http, which its types do not say.
function clientOptions(address: EngineAddress, agent: Agent): Docker.DockerOptions & { agent?: Agent } {
  if (address.kind === "socket") return { socketPath: address.path, agent }
  if (address.kind === "ssh") return { host: "localhost", port: 80, protocol: "http", agent }
  const { host, port, tls } = address
  return tls === undefined
    ? { host, port, protocol: "http", agent }
    : { host, port, protocol: "https", ...tls, agent }
}
