import { GloveboxError } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import type { Tier } from "../../policy/index.ts"
import type { PullPolicy, PullProgress } from "../docker/index.ts"
import type { TierProbe } from "./tier-probe.ts"

export interface ProbeOptions {
  readonly dockerHost?: string | undefined
  readonly dockerContext?: string | undefined
  /** The image that docker is to have. */
  readonly image: string
  /** The image that jupyter is to have. @default its own */
  readonly jupyterImage?: string | undefined
  /** Whether an image that is not there is fetched. */
  readonly pull: PullPolicy
  readonly onPull?: ((progress: PullProgress) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

const BUILD_JUPYTER = "build it, from the repository: scripts/jupyter-image; or name an image with ipykernel"

/** Whether a kind of sandbox works here, as far as can be told without running code. */
export async function probeTier(tier: Tier, options: ProbeOptions): Promise<TierProbe> {
  const probe = PROBES[tier]
  try {
    return await probe(options)
  } catch (error) {
    options.signal?.throwIfAborted()
    // What is wrong with the options is wrong with every machine.
    if (!GloveboxError.is(error) || error.code === "OPTION_INVALID") throw error
    return { isAvailable: false, detail: withoutStop(errorMessage(error)) }
  }
}

const PROBES: Readonly<Record<Tier, (options: ProbeOptions) => Promise<TierProbe>>> = {
  docker: probeDocker,
  jupyter: probeJupyter,
  bubblewrap: probeBubblewrap,
  wasm: async () => ({ isAvailable: true, detail: "the embedded sandbox needs nothing but Node" }),
  local: async () => ({
    isAvailable: false,
    detail: "the host itself is no sandbox, and never chosen by itself",
    remedy: "for code that you trust as your own: dangerouslyRunOnHost",
  }),
}

async function probeDocker(options: ProbeOptions): Promise<TierProbe> {
  return probeEngine(options, options.image)
}

async function probeEngine(options: ProbeOptions, image: string): Promise<TierProbe> {
  const { pull, onPull = () => {}, signal } = options
  const [{ findEngine }, { Engine }, { engineRemedy }, { findImage }] = await Promise.all([
    import("../docker/engine-address.ts"),
    import("../docker/engine.ts"),
    import("../docker/engine-remedy.ts"),
    import("../docker/find-image.ts"),
  ])
  const { dockerHost, dockerContext } = options
  const engine = new Engine(await findEngine({ dockerHost, dockerContext }))
  try {
    const { isPodman, version } = await engine.info(signal)
    await findImage(engine, image, pull, onPull, signal)
    const kind = isPodman ? "Podman" : "Docker"
    return {
      isAvailable: true,
      detail: `${kind} ${version} answers at ${engine.address.url} and has ${image}`,
    }
  } catch (error) {
    signal?.throwIfAborted()
    if (GloveboxError.is(error, "IMAGE_UNAVAILABLE")) {
      const pulled = error.cause === undefined ? "" : `, and could not pull it (${errorMessage(error.cause)})`
      const detail = `the Docker engine has no image ${image}${pulled}`
      return { isAvailable: false, detail, remedy: `docker pull ${image}` }
    }
    if (!GloveboxError.is(error, "ENGINE_UNAVAILABLE")) throw error
    const why = withoutStop(errorMessage(error.cause ?? error))
    const detail = `no Docker engine answers at ${engine.address.url} (${why})`
    return { isAvailable: false, detail, remedy: engineRemedy(error) }
  } finally {
    engine.close()
  }
}

async function probeJupyter(options: ProbeOptions): Promise<TierProbe> {
  const { DEFAULT_IMAGE } = await import("../jupyter/jupyter-options.ts")
  const image = options.jupyterImage ?? DEFAULT_IMAGE
  if (image !== DEFAULT_IMAGE) return probeEngine(options, image)
  // It is made here, and no registry is to be asked for it.
  const probe = await probeEngine({ ...options, pull: "never" }, image)
  return probe.remedy?.startsWith("docker pull") ? { ...probe, remedy: BUILD_JUPYTER } : probe
}

async function probeBubblewrap({ signal }: ProbeOptions): Promise<TierProbe> {
  const { BubblewrapCodeExecutor } = await import("../bubblewrap/index.ts")
  await using executor = new BubblewrapCodeExecutor({ pool: { size: 1 } })
  await executor.start({ signal })
  return { isAvailable: true, detail: "bubblewrap makes its namespaces" }
}

function withoutStop(text: string): string {
  return text.trim().replace(/\.$/, "")
}
