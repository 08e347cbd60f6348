// The same as one-process.mjs, with the agents in other processes, or on other machines:
//   node examples/distributed/client.mjs
import { readFile } from "node:fs/promises"
import { GrpcWorkerAgentRuntime } from "glovebox/runtimes/grpc"
import { countBook } from "./count-book.mjs"

const {
  HOST_ADDRESS: hostAddress = "127.0.0.1:50051",
  TOKEN_FILE,
  CA_FILE,
  CERT_FILE,
  KEY_FILE,
} = process.env
const tls = CA_FILE ? { ca: CA_FILE, cert: CERT_FILE, key: KEY_FILE } : undefined
const token = TOKEN_FILE ? (await readFile(TOKEN_FILE, "utf8")).trim() : undefined

const runtime = new GrpcWorkerAgentRuntime({ hostAddress, tls, token })
await runtime.start()
await countBook(runtime)
await runtime.close()
