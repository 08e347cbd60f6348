import type { CodeExecutor } from "glovebox/executors"
import { BubblewrapCodeExecutor } from "glovebox/executors/bubblewrap"
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"
import { DockerJupyterCodeExecutor } from "glovebox/executors/jupyter"
import { LocalCommandLineCodeExecutor } from "glovebox/executors/local"
import { WasmCodeExecutor } from "glovebox/executors/wasm"

export interface TierOptions {
  readonly isolation: "run" | "session"
  readonly timeout?: number | undefined
}

export interface Tier {
  readonly name: string
  /** The ways in which it runs code; a notebook has only sessions, and the host none. */
  readonly isolations: readonly ("run" | "session")[]
  create(options: TierOptions): CodeExecutor
}

const image = process.env["GLOVEBOX_BENCH_IMAGE"] || "glovebox/sandbox:py3"
const pool = { size: 1 }

/** Every tier, with as few sandboxes as it can have. */
export const TIERS: readonly Tier[] = [
  {
    name: "docker",
    isolations: ["run", "session"],
    create: (options) => new DockerCommandLineCodeExecutor({ ...options, image, pool, runtime: "runc" }),
  },
  {
    name: "jupyter",
    isolations: ["session"],
    create: ({ timeout }) => new DockerJupyterCodeExecutor({ timeout, runtime: "runc" }),
  },
  {
    name: "bubblewrap",
    isolations: ["run", "session"],
    create: (options) => new BubblewrapCodeExecutor({ ...options, pool }),
  },
  {
    name: "wasm",
    isolations: ["run", "session"],
    create: (options) => new WasmCodeExecutor({ ...options, pool }),
  },
  {
    name: "local",
    isolations: ["run"],
    create: ({ timeout }) => new LocalCommandLineCodeExecutor({ timeout, dangerouslyRunOnHost: true }),
  },
]
