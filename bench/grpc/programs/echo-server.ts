import { type ServerDuplexStream, Server, ServerCredentials } from "@grpc/grpc-js"
import { answerLines } from "./answer-lines.ts"
import { ECHO_METHOD } from "./echo-method.ts"

const server = new Server()
server.addService(
  { Echo: ECHO_METHOD },
  {
    Echo: (stream: ServerDuplexStream<Buffer, Buffer>): void => {
      stream.on("data", (bytes: Buffer) => stream.write(bytes))
      stream.on("end", () => stream.end())
    },
  },
)
const port = await new Promise<number>((resolve, reject) => {
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
    if (error) reject(error)
    else resolve(bound)
  })
})
await answerLines(`127.0.0.1:${port}`, {})
server.forceShutdown()
