import { readFile } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { GloveboxError } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { parseYaml } from "../../internal/yaml-text.ts"
import { SandboxPolicy, loadPolicy } from "../../policy/index.ts"
import { type ConfigFields, type ConfigIssue, configIssues, configSchema } from "./config-schema.ts"
import { findConfig } from "./find-config.ts"
import { secretsIn } from "./refuse-secrets.ts"

/** A configuration, with its policy read. */
export interface Config extends Omit<ConfigFields, "policy"> {
  /** Its file; undefined when there is none. */
  readonly file: string | undefined
  /** Whether the user named the file. One that was only found may not send keys elsewhere, nor let more run unasked. */
  readonly isNamed: boolean
  readonly policy: SandboxPolicy | undefined
}

export interface LoadConfigOptions {
  /** The file of --config. */
  readonly file?: string | undefined
  /** Where to look otherwise. */
  readonly folder: string
  readonly home?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Reads the configuration that is named or found; errors name the file and the line. */
export async function loadConfig({ file, folder, home, signal }: LoadConfigOptions): Promise<Config> {
  const path = file === undefined ? await findConfig(folder, home) : resolve(folder, file)
  if (path === undefined) return { file: undefined, isNamed: false, policy: undefined }
  const text = await readFile(path, { encoding: "utf8", signal }).catch((cause: unknown) => {
    signal?.throwIfAborted()
    throw new GloveboxError("CONFIG_INVALID", `${path} cannot be read: ${errorMessage(cause)}`, { cause })
  })
  const { policy, ...fields } = parseConfig(text, path)
  const read = await readPolicy(policy, path, signal)
  return { ...fields, file: path, isNamed: file !== undefined, policy: read }
}

/** Reads a configuration from YAML or JSON text. */
export function parseConfig(text: string, name: string): ConfigFields {
  const read = parseYaml(text, name)
  if ("problem" in read) throw invalid([read.problem])
  const value = read.value ?? {}
  const say = ({ path, message }: ConfigIssue): string => {
    const where = path.map(String).join(".")
    return `${read.at(path)}: ${where === "" ? "" : `${where}: `}${message}`
  }
  // First, because what follows may show a value.
  const secrets = secretsIn(value)
  if (secrets.length > 0) throw invalid(secrets.map(say))
  const { data, error } = configSchema.safeParse(value)
  if (error) throw invalid(configIssues(error.issues).map(say))
  return data
}

async function readPolicy(
  policy: ConfigFields["policy"],
  file: string,
  signal: AbortSignal | undefined,
): Promise<SandboxPolicy | undefined> {
  if (policy === undefined) return undefined
  if (typeof policy === "string") return loadPolicy(resolve(dirname(file), policy), { signal })
  try {
    return new SandboxPolicy(policy)
  } catch (cause) {
    throw new GloveboxError("CONFIG_INVALID", `${file}: policy: ${errorMessage(cause)}`, { cause })
  }
}

function invalid(problems: readonly string[]): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", `The configuration is not valid.\n${problems.join("\n")}`)
}
