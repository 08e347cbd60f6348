import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js"
import { answerLines } from "./answer-lines.ts"
import { ECHO_METHOD } from "./echo-method.ts"

/** Serves streams of bytes on a free port until the program's input ends. */
export async function serveStreams(
  onStream: (stream: ServerDuplexStream<Buffer, Buffer>) => void,
): Promise<void> {
  const server = new Server()
  server.addService({ Echo: ECHO_METHOD }, { Echo: onStream })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error)
      else resolve(bound)
    })
  })
  await answerLines(`127.0.0.1:${port}`, {})
  server.forceShutdown()
}
