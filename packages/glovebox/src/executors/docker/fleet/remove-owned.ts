import type { Engine } from "../engine.ts"
import { OWNER_LABEL } from "../ownership.ts"

/** Removes all containers of an owner that has no use for any of them. */
export async function removeOwned(engine: Engine, owner: string): Promise<void> {
  const left = await engine.list([`${OWNER_LABEL}=${owner}`])
  await Promise.all(left.map(async ({ id }) => engine.remove(id)))
}
