// The agents and who uses them, all in one process:
//   node examples/distributed/one-process.mjs
import { SingleThreadedAgentRuntime } from "glovebox/core"
import { register } from "./agents.mjs"
import { countBook } from "./count-book.mjs"

const runtime = new SingleThreadedAgentRuntime()
await register(runtime)
runtime.start()
await countBook(runtime)
await runtime.close()
