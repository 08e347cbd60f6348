import type { Engine } from "../executors/docker/engine.ts"
import { findOrphans } from "../executors/docker/sweep-orphans.ts"
import { findUnusedImages } from "../executors/docker/unused-images.ts"
import { formatBytes } from "../policy/index.ts"

/** Something on an engine that this package made and nobody needs any more. */
export interface Leftover {
  readonly kind: "container" | "image"
  readonly id: string
  readonly name: string
  /** What it is like, in a few words. */
  readonly state: string
  readonly reason: string
  readonly createdAt: Date
  readonly remove: () => Promise<void>
}

const FINDERS: readonly ((engine: Engine) => Promise<Leftover[]>)[] = [findContainers, findImages]

/** All leftovers, of every kind; nothing of a living process, and nothing that others made. */
export async function findLeftovers(engine: Engine): Promise<Leftover[]> {
  return (await Promise.all(FINDERS.map(async (find) => find(engine)))).flat()
}

async function findContainers(engine: Engine): Promise<Leftover[]> {
  return (await findOrphans(engine)).map(({ id, name, state, reason, createdAt }) => ({
    kind: "container",
    id,
    name,
    state,
    reason,
    createdAt,
    remove: async () => engine.remove(id),
  }))
}

async function findImages(engine: Engine): Promise<Leftover[]> {
  return (await findUnusedImages(engine)).map(({ id, name, createdAt, bytes }) => ({
    kind: "image",
    id,
    name,
    state: formatBytes(Math.round(bytes / 1024 ** 2) * 1024 ** 2),
    reason: "it was prepared for functions more than a day ago, and no container is of it",
    createdAt,
    remove: async () => engine.removeImage(id),
  }))
}
