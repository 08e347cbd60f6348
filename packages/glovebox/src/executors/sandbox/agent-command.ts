import { readFile } from "node:fs/promises"
import { WORKSPACE } from "./workspace-folder.ts"

// Beside the built code and beside the source alike.
const AGENTS = new URL("../../../agents/", import.meta.url)

// What programs of models import most, and is quick to import: an interpreter that is ready has it in memory
// already, but each container pays for it, in time to fill the pool and in what a fork has to copy.
const PRELOADED = (
  "argparse base64 bisect calendar collections copy csv dataclasses datetime decimal enum fractions functools glob " +
  "hashlib heapq inspect io itertools json logging math operator os pathlib pprint random re shutil statistics string " +
  "struct subprocess sys tempfile textwrap threading time traceback typing uuid warnings"
).split(" ")

const RESIDENT_PARTS = "start imports facts workspace json block ready tunnel agent main".split(" ")

/** What of the image the agent is made for; `node` is the one for `sh`, behind a program that carries connections. */
export type AgentKind = "python" | "sh" | "node"

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
  /** The agent as the image's Python compiled it, or whether to ask for that. */
  readonly compiled?: Buffer | "wanted" | undefined
  /** Whether the kernel takes long to give a process a page. */
  readonly hasSlowPages?: boolean | undefined
  /** The port of the loopback at which programs find the way out, if there is one. */
  readonly tunnelPort?: number | undefined
}

// Leaves nothing behind that a program could see: no name, no module.
const UNPACK = `def unpack(packed):
    import marshal, sys
    before = set(sys.modules)
    import binascii, zlib
    code = marshal.loads(zlib.decompress(binascii.a2b_base64(packed)))
    for name in set(sys.modules) - before:
        del sys.modules[name]
    return code
exec(globals().pop("unpack")(__import__("sys").argv.pop(1)))`
// The kernel takes no longer argument.
const LONGEST_PACKED = 96 * 1024

/** The command of a container's first process: an agent, its source in the command line. */
export async function agentCommand(options: AgentCommandOptions): Promise<string[]> {
  const { kind, programs, leaseMs } = options
  const keepsReady = options.keepsReady && !options.isSuspicious
  if (kind !== "python") {
    const shell = ["sh", "-c", await source("resident.sh"), "sh", WORKSPACE, ...programs]
    const node = ["node", "--input-type=module", "-e", await source("tunnel.mjs"), "--"]
    return kind === "sh" ? shell : [...node, String(options.tunnelPort), ...shell]
  }
  const config = {
    workspace: WORKSPACE,
    lease: Math.ceil(leaseMs / 1000),
    programs,
    ...(keepsReady ? { preload: PRELOADED } : {}),
    ...(options.compiled === "wanted" ? { share: true } : {}),
    ...(options.hasSlowPages ? { touch: true } : {}),
    ...(options.tunnelPort === undefined ? {} : { tunnel: options.tunnelPort }),
  }
  // Isolated, Python takes nothing from its user's folder; one that is to look native cannot be.
  const flags = keepsReady ? [] : ["-I"]
  const compiled = options.compiled === "wanted" ? undefined : options.compiled
  return ["python3", ...flags, "-c", ...(await residentProgram(compiled)), JSON.stringify(config)]
}

/** The framed agent as arguments of `python3 -c`; its config comes behind them. */
export async function residentProgram(compiled?: Buffer): Promise<string[]> {
  if (!compiled || compiled.length >= LONGEST_PACKED) return [await residentSource()]
  return [UNPACK, compiled.toString("base64")]
}

/** The text of the framed agent: its parts, each of which counts on those before it. */
export async function residentSource(): Promise<string> {
  const parts = await Promise.all(RESIDENT_PARTS.map(async (part) => source(`resident/${part}.py`)))
  return parts.join("\n\n")
}

const sources = new Map<string, Promise<string>>()

async function source(name: string): Promise<string> {
  let text = sources.get(name)
  if (!text) sources.set(name, (text = readFile(new URL(name, AGENTS), "utf8")))
  return text
}
