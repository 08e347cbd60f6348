const AGENT = new URL("../../../agents/wasm/", import.meta.url)

interface Files {
  wasFull: boolean
  addLibrary(name: string, source: string): void
}
interface Change {
  readonly type: "file" | "gone" | "end"
  readonly path?: string
  readonly sum?: { readonly skipped: number; readonly over: boolean }
}
interface HostsView {
  put(header: { path: string; mode: number; size: number }, first: Buffer): void
  changes(limits: { maxFiles: number; maxBytes: number }): Iterable<Change>
}
type Call = (numbers: readonly number[], data: Buffer, answer: Buffer) => number[]
type Functions = Record<string, (...given: (number | bigint)[]) => number>

// The agent is plain JavaScript: what it exports is described here.
const modules = {
  files: (await import(new URL("memory-files.mjs", AGENT).href)) as {
    MemoryFiles: new (limits: { maxBytes: number; maxFiles: number }) => Files
  },
  open: (await import(new URL("open-files.mjs", AGENT).href)) as {
    OpenFiles: new (files: Files) => Record<string, Call | undefined>
  },
  workspace: (await import(new URL("workspace.mjs", AGENT).href)) as {
    Workspace: new (files: Files) => HostsView
  },
  wasi: (await import(new URL("wasi.mjs", AGENT).href)) as {
    wasiFunctions: (options: object) => Functions
  },
}

const { MemoryFiles } = modules.files
const { OpenFiles } = modules.open
export const { Workspace } = modules.workspace

export interface Answer {
  readonly errno: number
  readonly numbers: number[]
  readonly data: Buffer
}

/** The calls of a guest on files, over a file system of its own. */
export function guest(limits = { maxBytes: 2 ** 24, maxFiles: 1000 }): {
  files: Files
  call: (name: string, numbers: readonly number[], data?: string) => Answer
} {
  const files = new MemoryFiles(limits)
  const open = new OpenFiles(files)
  const answer = Buffer.alloc(128 * 1024)
  return {
    files,
    call: (name, numbers, data = "") => {
      try {
        const given = open[name]?.(numbers, Buffer.from(data, "latin1"), answer) ?? []
        return { errno: 0, numbers: given, data: Buffer.from(answer.subarray(0, given[0] ?? 0)) }
      } catch (error) {
        return { errno: (error as { errno: number }).errno, numbers: [], data: Buffer.alloc(0) }
      }
    },
  }
}

/** Calls functions of WASI over one page of memory, with a host that grants everything. */
export function hostileGuest(): (name: string, ...given: (number | bigint)[]) => number | undefined {
  const memory = { buffer: new ArrayBuffer(65_536) }
  const call = { numbers: new Float64Array(8), data: new Uint8Array(1024), call: () => 0 }
  const functions = modules.wasi.wasiFunctions({ call, args: ["a"], env: { A: "b" }, memory: () => memory })
  return (name, ...given) => functions[name]?.(...given)
}
