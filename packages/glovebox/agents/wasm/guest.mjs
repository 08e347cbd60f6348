import { parentPort, workerData } from "node:worker_threads"
import { openWalls } from "./facts.mjs"
import { CallingEnd } from "./shared-call.mjs"

// A thread of its own for one interpreter: the main thread can end it while it is busy.
const { memory, language, pages, ...setup } = workerData
// Each thread has its own; what is thrown here comes near to programs.
Error.stackTraceLimit = 0
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread, not a window
const call = new CallingEnd(memory, () => parentPort.postMessage(0))

const open = openWalls(pages)
if (open.length > 0) end({ crash: `the thread is not confined: ${open.join(", ")}` })
else if (language === "python") {
  const { runPython } = await import("./python.mjs")
  end(runPython({ ...setup, call }))
} else {
  const { JavaScript } = await import("./javascript.mjs")
  const { typeStripper } = await import("./typescript.mjs")
  serve(await JavaScript.start({ ...setup, stripTypes: typeStripper(setup.typescript), call }))
}

function serve(engine) {
  try {
    while (true) {
      call.call("next")
      const command = Buffer.from(call.data.slice(0, call.length)).toString("utf8")
      const { code, ranOutOfMemory } = engine.run(command.slice(command.indexOf(" ") + 1))
      call.call("finished", [code, ranOutOfMemory ? 1 : 0])
    }
  } catch (error) {
    end({ crash: String(error), isOverflow: error instanceof RangeError })
  }
}

function end({ code = -1, crash = "", isOverflow = false, bytes = 0 }) {
  call.call("ended", [code, isOverflow ? 1 : 0, bytes], Buffer.from(crash.slice(0, 1000), "utf8"))
}
