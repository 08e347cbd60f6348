import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { closeSync, constants, openSync, rmSync } from "node:fs"
import { Socket } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"

/** The two output streams of a process: the ends that it writes to, and ours. */
export interface OutputPipes {
  readonly writers: readonly [stdout: number, stderr: number]
  readonly stdout: Socket
  readonly stderr: Socket
  /** Lets go of the writers' ends, which the process has by then. */
  closeWriters(): void
}

const run = promisify(execFile)

/**
 * Real pipes, made in a folder that only this user can read. What Node makes are sockets, in which
 * `echo >/dev/stderr` fails. Undefined where the system has no such pipes.
 */
export async function makeOutputPipes(folder: string): Promise<OutputPipes | undefined> {
  if (process.platform === "win32") return undefined
  const name = randomBytes(8).toString("hex")
  const paths = [join(folder, `${name}.out`), join(folder, `${name}.err`)] as const
  const opened: number[] = []
  try {
    await run("mkfifo", ["-m", "600", ...paths])
    // Ours first and without waiting, so that the other does not wait either.
    for (const path of paths) {
      opened.push(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK))
      opened.push(openSync(path, constants.O_WRONLY))
    }
  } catch {
    for (const fd of opened) closeSync(fd)
    return undefined
  } finally {
    // Both ends are open: nobody needs the names any more.
    for (const path of paths) rmSync(path, { force: true })
  }
  const [outReader = 0, outWriter = 0, errReader = 0, errWriter = 0] = opened
  return {
    writers: [outWriter, errWriter],
    stdout: new Socket({ fd: outReader, readable: true, writable: false }),
    stderr: new Socket({ fd: errReader, readable: true, writable: false }),
    closeWriters: () => {
      closeSync(outWriter)
      closeSync(errWriter)
    },
  }
}
