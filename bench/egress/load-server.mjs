// A web server in a process of its own, so that its work is not measured as the gate's: `/zeros/N` gives N bytes,
// anything else takes the body and gives "1". Prints its port.
import { createServer } from "node:http"
import { Readable } from "node:stream"

const PIECE = Buffer.alloc(256 * 1024)

function* pieces(count) {
  for (let left = count; left > 0; left -= PIECE.length) yield PIECE.subarray(0, left)
}

const server = createServer((request, response) => {
  const count = Number(/^\/zeros\/(\d+)$/.exec(request.url ?? "")?.[1] ?? 0)
  if (count === 0) {
    request.resume()
    request.on("end", () => response.end("1"))
    return
  }
  response.setHeader("content-length", count)
  Readable.from(pieces(count)).pipe(response)
})
server.listen(0, "127.0.0.1", () => console.log(server.address().port))
process.stdin.resume()
process.stdin.on("end", () => process.exit(0))
