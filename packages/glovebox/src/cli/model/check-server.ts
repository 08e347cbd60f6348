import { GloveboxError } from "../../core/index.ts"
import type { ConfigModel } from "../config/config-schema.ts"
import type { Config } from "../config/load-config.ts"
import { OllamaServer } from "./ollama-server.ts"

const USUAL: Readonly<Record<string, RegExp>> = {
  openai: /(?:^|\.)openai\.com$/,
  anthropic: /(?:^|\.)anthropic\.com$/,
}
const HERE = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/**
 * A configuration that lay in the folder, such as a clone of somebody's repository, may not choose to which server the
 * task, what the code prints, or any of the user's variables goes.
 */
export function checkServer(
  { provider, base_url: url, api_key_env: variable }: ConfigModel,
  { file, isNamed }: Config,
  env: NodeJS.ProcessEnv,
): void {
  if (isNamed || url === undefined || !URL.canParse(url)) return
  if ([env["OPENAI_BASE_URL"], env["ANTHROPIC_BASE_URL"], new OllamaServer(env).url].includes(url)) return
  const { hostname, protocol } = new URL(url)
  if (HERE.test(hostname)) return
  if (protocol === "https:" && USUAL[provider]?.test(hostname)) return
  const what = variable === undefined ? "the task and its files" : `what is in ${variable}`
  throw new GloveboxError(
    "CONFIG_INVALID",
    `${file ?? "The configuration"}, which was found and not named, asks to send ${what} to ${hostname}. If you trust it: --config ${file ?? "<file>"}`,
  )
}
