import type { PolicyFields } from "../../policy/index.ts"

/**
 * The agent as the Python of an image compiled it, which takes a new container as long as Python's own start. It is
 * taken from the first container of an image before any code has run there, and serves while the process lives.
 */
class CompiledAgents {
  readonly #byImage = new Map<string, Buffer>()

  /** What a container of the image is to be started with. */
  find(imageId: string, policy: PolicyFields): Buffer | "wanted" | undefined {
    // Another Python than the image's may be in the way, and it would not understand.
    const isPlain = policy.mounts.length === 0 && !Object.keys(policy.env).some(mayChooseAnother)
    return isPlain ? (this.#byImage.get(imageId) ?? "wanted") : undefined
  }

  keep(imageId: string, compiled: Buffer | undefined): void {
    if (compiled) this.#byImage.set(imageId, Buffer.from(compiled))
  }
}

function mayChooseAnother(variable: string): boolean {
  return variable === "PATH" || variable.startsWith("PYTHON") || variable.startsWith("LD_")
}

export const compiledAgents = new CompiledAgents()
