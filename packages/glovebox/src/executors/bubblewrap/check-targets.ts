import { lstat } from "node:fs/promises"
import { posix } from "node:path"
import { GloveboxError } from "../../core/index.ts"
import type { PolicyFields } from "../../policy/index.ts"
import type { TreeEntry } from "./system-tree.ts"

/** Refuses mounts into the tree at places that are not there: it is read-only, so none can be made. */
export async function checkTargets(
  { mounts }: Pick<PolicyFields, "mounts">,
  tree: readonly TreeEntry[],
): Promise<void> {
  for (const { source, target } of mounts) {
    const place = placeInTree(target, tree)
    if (place === undefined || (await isThere(place))) continue
    throw new GloveboxError(
      "POLICY_MOUNT_REFUSED",
      `The mount of ${source} is refused: its target ${target} is not in the sandbox's tree, which is read-only. Use a place outside of it, such as /data.`,
    )
  }
}

// Where on the host the target is, when it is in a part that is shown from there.
function placeInTree(target: string, tree: readonly TreeEntry[]): string | undefined {
  const entry = tree.find((one) => target.startsWith(`${one.target}/`))
  if (!entry) return undefined
  const rest = target.slice(entry.target.length + 1)
  if (entry.kind === "bind") return posix.join(entry.source, rest)
  const led = posix.resolve("/", entry.to, rest)
  // A link may lead to another, but not in a circle.
  return placeInTree(
    led,
    tree.filter((one) => one !== entry),
  )
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
