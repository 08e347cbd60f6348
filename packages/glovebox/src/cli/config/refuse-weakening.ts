import { dirname, resolve } from "node:path"
import { GloveboxError } from "../../core/index.ts"
import { wayInside } from "../way-inside.ts"
import type { Config } from "./load-config.ts"

/**
 * A configuration that was only found is somebody's file that lay in the folder: it may ask for more care, and not for
 * less.
 */
export async function refuseWeakening(config: Config): Promise<void> {
  const { file, isNamed } = config
  if (file === undefined || isNamed) return
  const wish = await wishOf(config, file)
  if (wish === undefined) return
  throw new GloveboxError(
    "CONFIG_INVALID",
    `${file}, which was found and not named, asks ${wish}. If you trust it: --config ${file}`,
  )
}

async function wishOf(
  { audit, approval, redaction, filter }: Config,
  file: string,
): Promise<string | undefined> {
  if (audit === false) return "to keep no audit log (audit: false)"
  if (audit?.required === false) return "to go on without an audit log (audit.required: false)"
  if (
    audit?.path !== undefined &&
    (await wayInside(resolve(dirname(file), audit.path), dirname(file))) === undefined
  ) {
    return `to keep the audit log outside of its folder (audit.path: ${audit.path})`
  }
  if (approval?.rules.some(({ then }) => then === "allow"))
    return "to allow what is asked for (approval.rules)"
  // What hides words from the log would hide them from whoever reads it.
  if (redaction?.patterns !== undefined) return "to hide words of its choice (redaction.patterns)"
  if (filter?.extend !== undefined) return "to filter by patterns of its own (filter.extend)"
  return undefined
}
