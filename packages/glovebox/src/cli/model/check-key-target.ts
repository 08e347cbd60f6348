import { GloveboxError } from "../../core/index.ts"
import type { ConfigModel } from "../config/config-schema.ts"
import type { Config } from "../config/load-config.ts"

const USUAL: Readonly<Record<string, RegExp>> = {
  openai: /(?:^|\.)openai\.com$/,
  anthropic: /(?:^|\.)anthropic\.com$/,
}
const HERE = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/**
 * A configuration that lay in the folder, such as a clone of somebody's repository, may not choose which of the user's
 * variables goes to which server.
 */
export function checkKeyTarget(
  { provider, base_url: url, api_key_env: variable }: ConfigModel,
  { file, isNamed }: Config,
  env: NodeJS.ProcessEnv,
): void {
  if (isNamed || variable === undefined || url === undefined || !URL.canParse(url)) return
  if (url === env["OPENAI_BASE_URL"] || url === env["ANTHROPIC_BASE_URL"]) return
  const { hostname, protocol } = new URL(url)
  if (HERE.test(hostname)) return
  if (protocol === "https:" && USUAL[provider]?.test(hostname)) return
  throw new GloveboxError(
    "CONFIG_INVALID",
    `${file ?? "The configuration"}, which was found and not named, asks to send what is in ${variable} to ${hostname}. If you trust it: --config ${file ?? "<file>"}`,
  )
}
