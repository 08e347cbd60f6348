import type { Component } from "../../core/index.ts"
import type { SandboxPolicy, Tier } from "../../policy/index.ts"
import type { CodeExecutor } from "../code-executor.ts"
import type { CreateOptions } from "./create-executor-options.ts"

/** What every kind has beside the contract. */
export interface PolicedExecutor extends CodeExecutor, Component {
  readonly policy: SandboxPolicy
  describeFunctions(): string
}

/** Makes the executor of a kind; only then is its code loaded. */
export async function makeExecutor(tier: Tier, { policy, given }: CreateOptions): Promise<PolicedExecutor> {
  const { isolation, concurrency, languages, workDir, carry, functions, functionsModule } = given
  const common = defined({ policy, concurrency, workDir, carry, functions, functionsModule })
  switch (tier) {
    case "docker": {
      const { DockerCommandLineCodeExecutor } = await import("../docker/index.ts")
      const { pull, dockerHost, dockerContext, onPull } = given
      const own = defined({ isolation, languages, pull, dockerHost, dockerContext })
      const executor = new DockerCommandLineCodeExecutor({ ...common, ...own, ...given.docker })
      if (onPull) executor.on("pull", ({ progress }) => onPull(progress))
      return executor
    }
    case "jupyter": {
      const { DockerJupyterCodeExecutor } = await import("../jupyter/index.ts")
      const { image, pull, dockerHost, dockerContext, onPull } = given
      const own = defined({ image, pull, dockerHost, dockerContext, languages })
      const executor = new DockerJupyterCodeExecutor({ ...common, ...own, ...given.jupyter })
      if (onPull) executor.on("pull", ({ progress }) => onPull(progress))
      return executor
    }
    case "bubblewrap": {
      const { BubblewrapCodeExecutor } = await import("../bubblewrap/index.ts")
      return new BubblewrapCodeExecutor({
        ...common,
        ...defined({ isolation, languages }),
        ...given.bubblewrap,
      })
    }
    case "wasm": {
      const { WasmCodeExecutor } = await import("../wasm/index.ts")
      return new WasmCodeExecutor({ ...common, ...defined({ isolation, languages }), ...given.wasm })
    }
    case "local": {
      const { LocalCommandLineCodeExecutor } = await import("../local/index.ts")
      const { hostRefused } = await import("../local/host-refused.ts")
      if (given.dangerouslyRunOnHost !== true) throw hostRefused()
      return new LocalCommandLineCodeExecutor({
        ...common,
        ...defined({ languages }),
        ...given.local,
        dangerouslyRunOnHost: true,
      })
    }
    default:
      return tier satisfies never
  }
}

function defined<T extends object>(fields: T): { [Key in keyof T]: NonNullable<T[Key]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]: NonNullable<T[Key]>
  }
}
