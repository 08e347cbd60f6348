import { spawn } from "node:child_process"
import { Agent, type ClientRequestArgs } from "node:http"
import { Socket } from "node:net"
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
  const { stdin, stdout, stderr } = child
  const complaints: Buffer[] = []
  stderr.on("data", (chunk: Buffer) => {
    if (complaints.length < 16) complaints.push(chunk)
  })
  const socket = new Duplex({
    read: () => void stdout.resume(),
    // A pipe that breaks has a cause, which is known when ssh has ended.
    write: (chunk: Buffer, _encoding, done) => void stdin.write(chunk, (error) => error ?? done()),
    final: (done) => void stdin.end(() => done()),
    destroy: (error, done) => {
      child.kill()
      done(error)
    },
  })
  stdin.on("error", () => {})
  stdout.on("data", (chunk: Buffer) => {
    if (!socket.push(chunk)) stdout.pause()
  })
  child.once("error", (error) => socket.destroy(error))
  // Not with its output: why it ended is known only now.
  child.once("close", (code) => {
    if (code === 0) {
      socket.push(null)
      return
    }
    const text = Buffer.concat(complaints).toString("utf8").trim()
    socket.destroy(new Error(`ssh ended with ${code ?? "a signal"}${text === "" ? "" : `: ${text}`}`))
  })
  // What Node's http calls on a socket, and a pipe does not have.
  const pipes = [stdin, stdout, stderr].filter((pipe): pipe is typeof pipe & Socket => pipe instanceof Socket)
  return Object.assign(socket, {
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
}
