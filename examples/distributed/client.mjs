// The same, with the agents in other processes, or on other machines:
//   node examples/distributed/client.mjs
import { readFile } from "node:fs/promises"
import { GrpcWorkerAgentRuntime } from "glovebox/runtimes/grpc"
import { countBook } from "./count-book.mjs"

const { HOST_ADDRESS = "127.0.0.1:50051", TOKEN_FILE, CA_FILE, CERT_FILE, KEY_FILE } = process.env

const runtime = new GrpcWorkerAgentRuntime({
  hostAddress: HOST_ADDRESS,
  ...(CA_FILE && { tls: { ca: CA_FILE, cert: CERT_FILE, key: KEY_FILE } }),
  ...(TOKEN_FILE && { token: (await readFile(TOKEN_FILE, "utf8")).trim() }),
})
try {
  await runtime.start()
  await countBook(runtime)
} finally {
  await runtime.close()
}
