const AGENT = new URL("../../../agents/wasm/", import.meta.url)

interface Files {
  wasFull: boolean
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
  wasi: (await import(new URL("wasi.mjs", AGENT).href)) as {
    wasiFunctions: (options: object) => Functions
  },
}

export const { MemoryFiles } = modules.files
export const { OpenFiles } = modules.open

/** Calls functions of WASI over one page of memory, with a host that grants everything. */
export function hostileGuest(): (name: string, ...given: (number | bigint)[]) => number | undefined {
  const memory = { buffer: new ArrayBuffer(65_536) }
  const call = { numbers: new Float64Array(8), data: new Uint8Array(1024), call: () => 0 }
  const functions = modules.wasi.wasiFunctions({ call, args: ["a"], env: { A: "b" }, memory: () => memory })
  return (name, ...given) => functions[name]?.(...given)
}
