import type { EngineBed } from "./engine-bed.ts"
import { EngineStream } from "./internals.ts"
import { PRINT, checkPrinted } from "../programs.ts"

/** A container of the same settings by the engine's API alone: created, attached, started, run, removed. */
export async function runInEngine(bed: EngineBed): Promise<{ resultMs: number; removedMs: number }> {
  const { engine } = bed
  const startedAt = performance.now()
  const id = await engine.create(bed.spec(["python3", "-c", PRINT]))
  const { output, exitCode } = await readToEnd(bed, id)
  const resultMs = performance.now() - startedAt
  await engine.remove(id)
  const removedMs = performance.now() - startedAt
  checkPrinted(output, exitCode)
  return { resultMs, removedMs }
}

async function readToEnd({ engine }: EngineBed, id: string): Promise<{ output: string; exitCode: number }> {
  const socket = await engine.attach(id)
  let output = ""
  const stream = new EngineStream((_name, bytes) => (output += bytes.toString("utf8")))
  socket.on("data", (chunk: Buffer) => stream.push(chunk))
  const isRead = new Promise<void>((resolve, reject) => {
    socket.once("end", resolve)
    socket.once("error", reject)
  })
  // Asked before the start: a container that has ended is soon gone.
  const exit = engine.ask("wait for a container", async (docker) => {
    const answer: unknown = await docker.getContainer(id).wait({ condition: "next-exit" })
    return (answer as { StatusCode: number }).StatusCode
  })
  await engine.start(id)
  const [exitCode] = await Promise.all([exit, isRead])
  return { output, exitCode }
}
