import type { Command } from "commander"
import type { EngineAddressOptions } from "../executors/docker/index.ts"
import { findEngine } from "../executors/docker/engine-address.ts"
import { Engine } from "../executors/docker/engine.ts"

/** Gives a command the options that say which engine it means. */
export function withEngineOptions(command: Command): Command {
  return command
    .option(
      "--docker-host <url>",
      "the engine: unix://, tcp:// or ssh://; else DOCKER_HOST, else the context's",
    )
    .option("--docker-context <name>", "the engine of this context of the docker command")
}

/** The engine that the options mean, for the length of `use`. */
export async function withEngine<T>(
  { dockerHost, dockerContext }: EngineAddressOptions,
  use: (engine: Engine) => Promise<T>,
): Promise<T> {
  const engine = new Engine(await findEngine({ dockerHost, dockerContext }))
  try {
    return await use(engine)
  } finally {
    engine.close()
  }
}
