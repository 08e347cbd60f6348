import { GloveboxError } from "../core/index.ts"
import { type ChosenTier, chooseTier } from "./factory/choose-tier.ts"
import { ChosenExecutor } from "./factory/chosen-executor.ts"
import {
  type CreateExecutorOptions,
  type CreateOptions,
  asksForDocker,
  readCreateOptions,
} from "./factory/create-executor-options.ts"
import { type PolicedExecutor, makeExecutor } from "./factory/make-executor.ts"
import { probeTier } from "./factory/probe-tier.ts"

/**
 * Makes an executor: of the kind that is asked for, or of the best that works here, which `describe()` then tells. The
 * host itself is never chosen, and a kind that the policy forbids is an error.
 *
 * @example
 * await using executor = await createExecutor({ policy: { tiers: ["docker", "wasm"] } })
 * executor.describe() // { sandbox: "docker", because: "Docker 27.3 answers at ...", ... }
 */
export async function createExecutor(options: CreateExecutorOptions = {}): Promise<ChosenExecutor> {
  const read = readCreateOptions(options)
  const { policy, given } = read
  const { dockerHost, dockerContext, pull = "missing", onPull, signal } = given
  signal?.throwIfAborted()
  const { image } = policy.fields
  const chosen = await chooseTier({
    sandbox: read.sandbox,
    policy,
    asksForDocker: asksForDocker(given),
    probe: async (tier) =>
      probeTier(tier, { dockerHost, dockerContext, image, jupyterImage: given.image, pull, onPull, signal }),
  })
  return new ChosenExecutor(await make(chosen, read), chosen)
}

async function make(chosen: ChosenTier, read: CreateOptions): Promise<PolicedExecutor> {
  try {
    return await makeExecutor(chosen.tier, read)
  } catch (error) {
    // Whoever did not choose it has to hear why it is this one that refuses.
    if (chosen.tried.length === 0 || !GloveboxError.is(error)) throw error
    throw new GloveboxError(
      error.code,
      `${error.message} The sandbox is ${chosen.tier}, because ${chosen.because}.`,
      { cause: error },
    )
  }
}
