import { parentPort, workerData } from "node:worker_threads"
import { runPython } from "./python.mjs"
import { CallingEnd } from "./shared-call.mjs"

// A thread of its own for one interpreter: the main thread can end it while it is busy.
const { memory, ...setup } = workerData
const call = new CallingEnd(memory, () => parentPort.postMessage(0))
const { code = -1, crash = "", isOverflow = false, bytes } = runPython({ ...setup, call })
call.call("ended", [code, isOverflow ? 1 : 0, bytes], Buffer.from(crash.slice(0, 1000), "utf8"))
