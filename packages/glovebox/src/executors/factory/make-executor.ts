import type { Component } from "../../core/index.ts"
import type { PolicyChange, SandboxPolicy, Tier } from "../../policy/index.ts"
import type { CodeExecutor } from "../code-executor.ts"
import type { DockerExecutorEvent } from "../docker/index.ts"
import type { PoolState } from "../pool-state.ts"
import type { CreateOptions } from "./create-executor-options.ts"

/** What every kind has beside the contract. */
export interface PolicedExecutor extends CodeExecutor, Component {
  readonly policy: SandboxPolicy
  /** Of the kinds that keep sandboxes ready. */
  readonly pool?: PoolState | undefined
  /** What its code can reach that no policy tells of, such as devices. */
  readonly beyondPolicy: readonly PolicyChange[]
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
      return listen(executor, tier, given)
    }
    case "jupyter": {
      const { DockerJupyterCodeExecutor } = await import("../jupyter/index.ts")
      const { image, pull, dockerHost, dockerContext, onPull } = given
      const own = defined({ image, pull, dockerHost, dockerContext, languages })
      const executor = new DockerJupyterCodeExecutor({ ...common, ...own, ...given.jupyter })
      if (onPull) executor.on("pull", ({ progress }) => onPull(progress))
      return listen(executor, tier, given)
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

const ENGINE_EVENTS = [
  "container-started",
  "container-removed",
  "orphan-removed",
  "runtime-chosen",
] as const satisfies readonly DockerExecutorEvent["type"][]

interface Listenable {
  on(type: (typeof ENGINE_EVENTS)[number], listener: (event: DockerExecutorEvent) => void): Disposable
}

function listen<Executor extends Listenable>(
  executor: Executor,
  tier: Tier,
  { onEngineEvent }: CreateOptions["given"],
): Executor {
  if (!onEngineEvent) return executor
  for (const type of ENGINE_EVENTS) executor.on(type, (event) => onEngineEvent(event, tier))
  return executor
}

function defined<T extends object>(fields: T): { [Key in keyof T]: NonNullable<T[Key]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]: NonNullable<T[Key]>
  }
}
