import { chmod, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { EngineBed } from "./engine-bed.ts"
import { EngineStream, WORKSPACE } from "./internals.ts"
import { PRINT, checkPrinted } from "../programs.ts"

/** A kept container into which code goes as with AutoGen: a file in a mounted folder, and an exec of it. */
export class ReusedContainer implements AsyncDisposable {
  readonly #bed: EngineBed
  readonly #id: string
  #count = 0

  private constructor(bed: EngineBed, id: string) {
    this.#bed = bed
    this.#id = id
  }

  static async start(bed: EngineBed): Promise<ReusedContainer> {
    // The sandbox's user is not the folder's owner.
    await chmod(bed.folder, 0o755)
    const mounts = [{ source: bed.folder, target: WORKSPACE, mode: "rw" as const }]
    const id = await bed.engine.create(bed.spec(["sleep", "infinity"], { mounts }))
    await bed.engine.start(id)
    return new ReusedContainer(bed, id)
  }

  async print(): Promise<void> {
    this.#count += 1
    const file = `code-${this.#count}.py`
    await writeFile(join(this.#bed.folder, file), PRINT)
    await this.#bed.engine.ask("run a program", async (docker) => {
      const exec = await docker.getContainer(this.#id).exec({
        Cmd: ["timeout", "10", "python3", file],
        WorkingDir: WORKSPACE,
        AttachStdout: true,
        AttachStderr: true,
      })
      const socket = await exec.start({})
      let output = ""
      const stream = new EngineStream((_name, bytes) => (output += bytes.toString("utf8")))
      socket.on("data", (chunk: Buffer) => stream.push(chunk))
      await new Promise<void>((resolve, reject) => {
        socket.once("end", resolve)
        socket.once("error", reject)
      })
      checkPrinted(output, (await exec.inspect()).ExitCode)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bed.engine.remove(this.#id)
  }
}
