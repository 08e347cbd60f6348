import type { Engine, FoundContainer } from "./engine.ts"
import { NAME_LABEL, OWNER_LABEL, ownerState } from "./ownership.ts"

export interface Orphan extends FoundContainer {
  readonly reason: string
}

/** Containers whose owner died, or that ended and were not removed. Others' containers are never among them. */
export async function findOrphans(engine: Engine): Promise<Orphan[]> {
  const containers = await engine.list([OWNER_LABEL])
  const ours = containers.filter(({ name, labels }) => labels[NAME_LABEL] === name)
  return ours.flatMap((container) => {
    const state = ownerState(container.labels)
    if (state === "dead") return [{ ...container, reason: "the process that made it has ended" }]
    const hasEnded = container.state === "exited" || container.state === "dead"
    if (state === "elsewhere" && hasEnded) return [{ ...container, reason: "it has ended" }]
    return []
  })
}

/** Removes what dead owners left. */
export async function sweepOrphans(engine: Engine): Promise<readonly Orphan[]> {
  const orphans = await findOrphans(engine)
  await Promise.all(orphans.map(async ({ id }) => engine.remove(id)))
  return orphans
}
