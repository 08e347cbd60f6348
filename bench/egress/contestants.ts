import { execFile } from "node:child_process"
import { cpus } from "node:os"
import { promisify } from "node:util"
import type { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"
import type { EngineBed } from "../docker/engine-bed.ts"

const HOST = "load.test"

/** Something that runs a program which prints seconds, and knows the server by an address of its own. */
export interface Contestant {
  readonly origin: string
  seconds(program: string): Promise<number>
}

/** The host's Python, over the loopback. */
export function direct(python: string, port: number): Contestant {
  return {
    origin: `http://127.0.0.1:${port}`,
    seconds: async (program) => {
      const { stdout } = await promisify(execFile)(python, ["-c", program])
      return readSeconds(stdout)
    },
  }
}

/** A session that may reach nothing but the server; as many processors as the host's Python has. */
export function tunnelExecutor(bed: EngineBed, port: number): DockerCommandLineCodeExecutor {
  return bed.executor({
    isolation: "session",
    timeout: "10m",
    cpus: cpus().length,
    pids: 512,
    network: { allow: [`${HOST}:${port}`], allowPrivate: [`127.0.0.1:${port}`] },
    egress: { lookup: async () => ["127.0.0.1"] },
  })
}

/** Python in a sandbox, through the tunnel and the gate. */
export function tunnelled(executor: DockerCommandLineCodeExecutor, port: number): Contestant {
  return {
    origin: `http://${HOST}:${port}`,
    seconds: async (program) => {
      const { stdout, output, exitCode } = await executor.executeCodeBlocks([
        { language: "python", code: program },
      ])
      if (exitCode !== 0) throw new Error(`The program in the sandbox failed: ${output.slice(-2000)}`)
      return readSeconds(stdout)
    },
  }
}

function readSeconds(text: string): number {
  const seconds = Number(text.trim())
  if (!(seconds > 0)) throw new Error(`The program printed ${JSON.stringify(text)}, not its seconds.`)
  return seconds
}
