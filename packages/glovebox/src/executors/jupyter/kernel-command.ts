import { readFile } from "node:fs/promises"
import { type AgentCommandOptions, residentSource } from "../sandbox/agent-command.ts"
import { WORKSPACE } from "../sandbox/workspace-folder.ts"

const AGENTS = new URL("../../../agents/", import.meta.url)
const LAST_LINE = "\nmain()\n"

/** How long a kernel has to end its code when it is interrupted, before it is killed. */
export const INTERRUPT_GRACE_MS = 1_000

export interface KernelCommandOptions extends Pick<
  AgentCommandOptions,
  "programs" | "leaseMs" | "tunnelPort"
> {
  /** The largest output that the agent passes on. */
  readonly richBytes: number
}

/** The command of a container's first process: the resident agent, and with it the one that keeps a kernel. */
export async function kernelCommand(options: KernelCommandOptions): Promise<string[]> {
  const [resident, jupyter, kernel] = await Promise.all([
    residentSource(),
    source("jupyter.py"),
    source("kernel.py"),
  ])
  if (!resident.endsWith(LAST_LINE)) throw new Error("The resident agent does not end with its start.")
  const config = {
    workspace: WORKSPACE,
    lease: Math.ceil(options.leaseMs / 1000),
    programs: options.programs,
    kernel: {
      workspace: WORKSPACE,
      source: kernel,
      grace: INTERRUPT_GRACE_MS / 1000,
      rich: options.richBytes,
    },
    ...(options.tunnelPort === undefined ? {} : { tunnel: options.tunnelPort }),
  }
  const program = resident.slice(0, -LAST_LINE.length) + "\n" + jupyter
  return ["python3", "-I", "-c", program, JSON.stringify(config)]
}

async function source(name: string): Promise<string> {
  return readFile(new URL(name, AGENTS), "utf8")
}
