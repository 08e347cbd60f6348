import { rmSync } from "node:fs"
import { readFile, rm, writeFile } from "node:fs/promises"
import { CommandFailure } from "../command-failure.ts"

/** Keeps a chat to one process: two would each overwrite what was said in the other. */
export class ChatLock implements AsyncDisposable {
  readonly #file: string
  readonly #onExit = (): void => rmSync(this.#file, { force: true })

  private constructor(file: string) {
    this.#file = file
    process.once("exit", this.#onExit)
  }

  /** Fails when a living process has it; what a dead one left is taken over. */
  static async take(file: string, name: string): Promise<ChatLock> {
    for (;;) {
      const isMine = await writeFile(file, `${process.pid}\n`, { flag: "wx", mode: 0o600 }).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === "EEXIST") return false
          throw error
        },
      )
      if (isMine) return new ChatLock(file)
      const pid = Number(await readFile(file, "utf8").catch(() => ""))
      if (isAlive(pid)) {
        throw new CommandFailure(
          `${name} is open in another glovebox (process ${pid}). Begin another: glovebox chat --new`,
        )
      }
      await rm(file, { force: true })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off("exit", this.#onExit)
    await rm(this.#file, { force: true })
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It lives, and is another user's.
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}
