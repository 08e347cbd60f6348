// Process 1 of a sandbox whose image has Node and no Python, where code may reach something: runs the agent that is given
// behind the port as a child, and carries connections beside what it says. README.md has the protocol.
import { spawn } from "node:child_process"
import { createServer } from "node:net"

const HEADER_BYTES = 5
const WINDOW = 256 * 1024
const PIECE = 48 * 1024
// A socket gives so much at once, and more than the window must not be sent.
const READ = 64 * 1024
const MOST = 896
const [port, command, ...args] = process.argv.slice(1)
const connections = new Map()
let count = 0

const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
agent.on("error", (error) => fail(`the agent cannot be started: ${error.message}`))
agent.stdin.on("error", () => {})
agent.stdout.on("data", (bytes) => {
  for (let at = 0; at < bytes.length; at += PIECE) send("a", bytes.subarray(at, at + PIECE))
  if (process.stdout.writableNeedDrain) agent.stdout.pause()
})
agent.on("close", (code) => process.stdout.write("", () => process.exit(code ?? 1)))
process.stdout.on("drain", () => {
  agent.stdout.resume()
  for (const { socket, credit } of connections.values()) if (credit >= READ) socket.resume()
})
process.stdout.on("error", () => process.exit(0))

const server = createServer({ allowHalfOpen: true }, (socket) => {
  if (connections.size >= MOST) {
    socket.destroy()
    return
  }
  count += 1
  const connection = { number: count, socket, credit: WINDOW, written: 0, saidEnd: false, heardEnd: false }
  connections.set(count, connection)
  tell(connection, "o")
  socket.on("data", (bytes) => {
    connection.credit -= bytes.length
    for (let at = 0; at < bytes.length; at += PIECE) tell(connection, "d", bytes.subarray(at, at + PIECE))
    if (connection.credit < READ || process.stdout.writableNeedDrain) socket.pause()
  })
  socket.on("end", () => {
    connection.saidEnd = true
    tell(connection, "e")
  })
  socket.on("error", () => {})
  socket.on("close", () => {
    if (!connections.delete(connection.number)) return
    if (!(connection.saidEnd && connection.heardEnd)) tell(connection, "r")
  })
})
server.on("error", (error) => fail(`port ${port} cannot be listened at: ${error.message}`))
server.listen(Number(port), "127.0.0.1", () => listen())

// Nothing is heard before the way out is there, so nothing runs without it.
function listen() {
  let rest = Buffer.alloc(0)
  process.stdin.on("data", (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    while (rest.length >= HEADER_BYTES) {
      const size = rest.readUInt32BE(1)
      if (rest.length < HEADER_BYTES + size) break
      hear(String.fromCharCode(rest[0]), rest.subarray(HEADER_BYTES, HEADER_BYTES + size))
      rest = rest.subarray(HEADER_BYTES + size)
    }
  })
  process.stdin.on("end", () => agent.stdin.end())
}

function hear(type, payload) {
  if (type === "A") {
    // The host waits for the agent as well: connections do not move while files go in faster than they are taken.
    if (agent.stdin.write(payload)) return
    process.stdin.pause()
    agent.stdin.once("drain", () => process.stdin.resume())
    return
  }
  const connection = connections.get(payload.readUInt32BE(0))
  if (type !== "T" || !connection) return
  const operation = String.fromCharCode(payload[4])
  const data = payload.subarray(HEADER_BYTES)
  if (operation === "d") write(connection, data)
  else if (operation === "w") {
    connection.credit += data.readUInt32BE(0)
    if (connection.credit >= READ) connection.socket.resume()
  } else if (operation === "e") {
    connection.heardEnd = true
    connection.socket.end()
  } else if (operation === "r") {
    // The answer tells the host that the number is free.
    connections.delete(connection.number)
    tell(connection, "r")
    connection.socket.resetAndDestroy()
  }
}

function write(connection, data) {
  connection.socket.write(data, () => {
    connection.written += data.length
    // In large steps: each is a frame.
    if (connection.written < WINDOW / 4 || connection.heardEnd) return
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(connection.written)
    connection.written = 0
    tell(connection, "w", bytes)
  })
}

function tell({ number }, operation, data = Buffer.alloc(0)) {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32BE(number)
  header.write(operation, 4, "latin1")
  send("t", Buffer.concat([header, data]))
}

function send(type, payload) {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write(type, 0, "latin1")
  header.writeUInt32BE(payload.length, 1)
  process.stdout.write(Buffer.concat([header, payload]))
}

function fail(message) {
  process.stderr.write(`glovebox tunnel: ${message}\n`)
  process.exit(2)
}
