import { fileURLToPath } from "node:url"
import { LineProgram } from "./line-program.ts"

/** Our worker in a process of its own. */
export async function startGloveboxProgram(name: string, hostAddress: string): Promise<LineProgram> {
  const program = new LineProgram(process.execPath, [
    "--conditions=@glovebox/source",
    "--import",
    import.meta.resolve("tsx"),
    fileURLToPath(new URL("glovebox-worker.ts", import.meta.url)),
    hostAddress,
    name,
  ])
  await program.events.take({ event: "ready" })
  return program
}
