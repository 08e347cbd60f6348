import { Client, type ClientDuplexStream, credentials } from "@grpc/grpc-js"
import { ECHO_METHOD } from "./echo-method.ts"

/** A stream of bytes to a server of ours, and what closes its connection. */
export function openStream(address: string): {
  readonly stream: ClientDuplexStream<Buffer, Buffer>
  readonly close: () => void
} {
  const { path, requestSerialize, responseDeserialize } = ECHO_METHOD
  const client = new Client(address, credentials.createInsecure())
  const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize)
  const close = (): void => {
    stream.on("error", () => {})
    stream.cancel()
    client.close()
  }
  return { stream, close }
}
