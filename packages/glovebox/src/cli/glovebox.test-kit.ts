import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../../../..", import.meta.url))
export const bin = fileURLToPath(new URL("../../bin/glovebox.js", import.meta.url))

export const IMAGE = process.env["GLOVEBOX_SANDBOX_IMAGE"] ?? "glovebox/sandbox:py3"

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Builds what the installed command runs. */
export async function buildCommand(): Promise<void> {
  await run(join(root, "node_modules/.bin/tsc"), ["-b", "packages/glovebox/tsconfig.src.json"], { cwd: root })
}

/** From now on commands run in a folder of their own, in which their log is; the result takes it away. */
export async function useOwnFolder(): Promise<() => Promise<void>> {
  const before = process.cwd()
  const folder = await mkdtemp(join(tmpdir(), "glovebox-here-"))
  process.chdir(folder)
  return async () => {
    process.chdir(before)
    await rm(folder, { recursive: true, force: true })
  }
}

/** Starts the command as a user would, in a process of its own. */
export function startGlovebox(...args: string[]): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [bin, ...args])
}

/** As on a machine that has no Docker. */
export const NO_ENGINE: NodeJS.ProcessEnv = { DOCKER_HOST: "unix:///nonexistent/docker.sock" }

/** Runs the command to its end; `input` is its stdin, and `env` is added to the environment. */
export async function glovebox(
  args: readonly string[],
  input = "",
  env: NodeJS.ProcessEnv = {},
  cwd?: string,
): Promise<Ended> {
  const child = spawn(process.execPath, [bin, ...args], { env: { ...process.env, ...env }, cwd })
  child.stdin.end(input)
  return ended(child)
}

export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const text = { stdout: "", stderr: "" }
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (chunk: string) => (text[stream] += chunk))
  }
  const [code] = (await once(child, "close")) as [number | null]
  return { code, ...text }
}

/** Asks Docker's own command. */
export async function docker(...args: string[]): Promise<string> {
  return (await run("docker", args)).stdout.trim()
}

/** The containers that a process made, by the label that says so. */
export async function containersOf(pid: number | undefined): Promise<string[]> {
  const format = '{{.ID}} {{.Label "org.glovebox.process"}}'
  const list = await docker("ps", "--all", "--filter", "label=org.glovebox.owner", "--format", format)
  return list.split("\n").filter((line) => line.includes(` ${pid}:`))
}
