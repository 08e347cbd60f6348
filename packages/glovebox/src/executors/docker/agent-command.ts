import { readFile } from "node:fs/promises"
import { WORKSPACE } from "./container-spec.ts"

// Beside the built code and beside the source alike.
const AGENTS = new URL("../../../agents/", import.meta.url)

// What programs of models import most; an interpreter that is ready has them in memory already.
const PRELOADED =
  "argparse ast asyncio base64 bisect calendar collections concurrent.futures copy csv ctypes dataclasses datetime decimal enum fractions functools glob hashlib heapq http.client inspect io itertools json logging math multiprocessing operator os pathlib pickle platform pprint queue random re shutil signal socket sqlite3 statistics string struct subprocess sys tempfile textwrap threading time traceback typing unittest urllib.parse urllib.request uuid warnings xml.etree.ElementTree zipfile zlib".split(
    " ",
  )

export type AgentKind = "python" | "sh"

export interface AgentCommandOptions {
  readonly kind: AgentKind
  /** Programs to look for in the image. */
  readonly programs: readonly string[]
  /** Whether Python keeps an interpreter ready. */
  readonly keepsReady: boolean
  /** After so many milliseconds without a word an idle agent ends. */
  readonly leaseMs: number
  /** Whether code that ran before may have left files where Python looks at its start. */
  readonly isSuspicious: boolean
}

/** The command of a container's first process: an agent, its source in the command line. */
export async function agentCommand(options: AgentCommandOptions): Promise<string[]> {
  const { kind, programs, leaseMs, isSuspicious } = options
  if (kind === "sh") return ["sh", "-c", await source("resident.sh"), "sh", WORKSPACE, ...programs]
  const config = {
    workspace: WORKSPACE,
    lease: Math.ceil(leaseMs / 1000),
    programs,
    ...(options.keepsReady && !isSuspicious ? { preload: PRELOADED } : {}),
  }
  // Isolated, Python takes nothing from its user's folder; an interpreter that is to look native cannot be so.
  return [
    "python3",
    ...(isSuspicious ? ["-I"] : []),
    "-c",
    await source("resident.py"),
    JSON.stringify(config),
  ]
}

const sources = new Map<string, Promise<string>>()

async function source(name: string): Promise<string> {
  let text = sources.get(name)
  if (!text) sources.set(name, (text = readFile(new URL(name, AGENTS), "utf8")))
  return text
}
