import { Command } from "commander"
import { errorMessage } from "../internal/error-message.ts"
import { EXIT_FAILED } from "./command-failure.ts"
import type { CommandOutput } from "./command-output.ts"
import { withEngine, withEngineOptions } from "./engine-options.ts"
import { type Leftover, findLeftovers } from "./leftovers.ts"

interface GcOptions {
  readonly dryRun?: true
  readonly dockerHost?: string
  readonly dockerContext?: string
  readonly json?: true
}

type Removal = Omit<Leftover, "remove"> & {
  readonly removed: boolean
  /** Why it could not be removed. */
  readonly error?: string
}

/** `glovebox gc`: remove what processes that are dead left on the engine. */
export function gcCommand(output: CommandOutput): Command {
  const command = new Command("gc")
    .description(
      "Remove the containers of processes that have ended. Those of living ones, and those that Glovebox did not make, stay.",
    )
    .option("-n, --dry-run", "only say what would be removed")
  return withEngineOptions(command)
    .option("--json", "print JSON")
    .action(async (options: GcOptions) => {
      const removals = await withEngine(options, async (engine) =>
        Promise.all((await findLeftovers(engine)).map(async (leftover) => settle(leftover, options))),
      )
      print(removals, options, output)
      if (removals.some(({ error }) => error !== undefined)) output.exitCode = EXIT_FAILED
    })
}

async function settle({ remove, ...leftover }: Leftover, { dryRun }: GcOptions): Promise<Removal> {
  if (dryRun) return { ...leftover, removed: false }
  try {
    await remove()
    return { ...leftover, removed: true }
  } catch (error) {
    // One that stays must not keep the others.
    return { ...leftover, removed: false, error: errorMessage(error) }
  }
}

function print(removals: readonly Removal[], { dryRun, json }: GcOptions, output: CommandOutput): void {
  if (json) {
    output.print(JSON.stringify({ dryRun: dryRun ?? false, leftovers: removals }))
    return
  }
  if (removals.length === 0) output.print("Nothing is left over.")
  for (const { kind, name, id, state, reason, removed, error } of removals) {
    const what = `${kind} ${name || id.slice(0, 12)} (${state}): ${reason}`
    if (error !== undefined) output.note(`could not remove ${what}: ${error}`)
    else output.print(`${removed ? "removed" : "would remove"} ${what}`)
  }
}
