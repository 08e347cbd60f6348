import { execFile } from "node:child_process"
import { promisify } from "node:util"
import type { DockerCommandLineCodeExecutor } from "./docker-command-line-code-executor.ts"
import { IMAGE } from "./docker-subject.test-kit.ts"

const run = promisify(execFile)

/** Docker's own command, which sees what we may have left out. */
export async function dockerCommand(...args: string[]): Promise<string> {
  const { stdout } = await run("docker", args, { maxBuffer: 64 * 1024 ** 2 })
  return stdout.trim()
}

export interface Listed {
  readonly id: string
  readonly name: string
  readonly state: string
}

/** All containers with this label, or the name, in whatever state. */
export async function containersWith(filter: string): Promise<Listed[]> {
  const lines = await dockerCommand(
    "ps",
    "-a",
    "--no-trunc",
    "--filter",
    filter,
    "--format",
    "{{.ID}} {{.Names}} {{.State}}",
  )
  return lines
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const [id = "", name = "", state = ""] = line.split(" ")
      return { id, name, state }
    })
}

export async function exists(id: string): Promise<boolean> {
  return (await containersWith(`id=${id}`)).length > 0
}

/** A container that is not ours; it ends with the block that holds it. */
export async function foreignContainer(
  name: string,
  labels: readonly string[] = [],
): Promise<AsyncDisposable & { id: string }> {
  const id = await dockerCommand(
    "run",
    "-d",
    "-i",
    "--name",
    name,
    "--network",
    "none",
    ...labels.flatMap((label) => ["--label", label]),
    IMAGE,
    "sleep",
    "300",
  )
  return {
    id,
    [Symbol.asyncDispose]: async () => {
      await dockerCommand("rm", "-f", id).catch(() => "")
    },
  }
}

/** Ids of the containers that the executor makes from here on. */
export function madeBy(executor: DockerCommandLineCodeExecutor): string[] {
  const ids: string[] = []
  executor.on("container-started", ({ containerId }) => ids.push(containerId))
  return ids
}

/** Waits until the next container was made, or the one after. */
export async function nextContainer(executor: DockerCommandLineCodeExecutor): Promise<string> {
  return new Promise((resolve) => {
    const listening = executor.on("container-started", ({ containerId }) => {
      listening[Symbol.dispose]()
      resolve(containerId)
    })
  })
}
