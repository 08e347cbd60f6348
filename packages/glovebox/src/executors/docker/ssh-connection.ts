import { spawn } from "node:child_process"
import { Agent, type ClientRequestArgs } from "node:http"
import type { Socket } from "node:net"
import { Duplex } from "node:stream"
import type { EngineAddress } from "./engine-address.ts"

/**
 * Connections to an engine through the system's own ssh, as Docker's command makes them: its
 * configuration, known hosts and keys apply, and a host that is not known is refused.
 */
export function sshAgent({ target, port }: Extract<EngineAddress, { kind: "ssh" }>): Agent {
  const args = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=15", ...(port === undefined ? [] : ["-p", port])]
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 4 })
  const create = (_options: ClientRequestArgs): Duplex =>
    connect("ssh", [...args, "--", target, "docker", "system", "dial-stdio"])
  // An agent makes its sockets by this method; Node's types know only those of net.
  Object.assign(agent, { createConnection: create })
  return agent
}

function connect(command: string, args: readonly string[]): Duplex {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], windowsHide: true })
  const complaints: Buffer[] = []
  child.stderr.on("data", (chunk: Buffer) => {
    if (complaints.length < 16) complaints.push(chunk)
  })
  const socket = Duplex.from({ readable: child.stdout, writable: child.stdin })
  // What Node's http calls on a socket, and a pipe does not have.
  const pipes = [child.stdin, child.stdout, child.stderr] as unknown as readonly Socket[]
  const withTimers = Object.assign(socket, {
    setTimeout: () => socket,
    setNoDelay: () => socket,
    setKeepAlive: () => socket,
    ref: () => {
      child.ref()
      for (const pipe of pipes) pipe.ref()
      return socket
    },
    unref: () => {
      child.unref()
      for (const pipe of pipes) pipe.unref()
      return socket
    },
  })
  child.once("error", (error) => withTimers.destroy(error))
  child.once("exit", (code) => {
    if (code === 0 || code === null) return
    const text = Buffer.concat(complaints).toString("utf8").trim()
    withTimers.destroy(new Error(`ssh ended with ${code}${text === "" ? "" : `: ${text}`}`))
  })
  withTimers.once("close", () => child.kill())
  return withTimers
}
