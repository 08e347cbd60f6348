import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import { milliseconds, seconds } from "../../models/seconds.ts"
import { choicesConfigShape, choicesFromConfig, choicesToConfig, refuseFunctions } from "../choices-config.ts"
import type { JsonSchema, ToolParameters } from "../index.ts"
import { isSecretName } from "../secret-name.ts"
import type { HttpToolOptions } from "./http-tool.ts"

const sharedShape = {
  name: z.string(),
  headers: z.record(z.string(), z.string()).nullish(),
  json_schema: z.record(z.string(), z.unknown()).nullish(),
  /** Seconds. */
  timeout: z.number().nullish(),
}

/** An HTTP tool in a component's data. */
export const httpToolConfigSchema = z.strictObject({
  ...sharedShape,
  description: z.string(),
  url: z.string(),
  allow: z.array(z.string()),
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]).nullish(),
  strict: z.boolean().nullish(),
  max_bytes: z.int().nullish(),
  allow_private: z.boolean().nullish(),
  ...choicesConfigShape,
})

/** The same as AutoGen writes it. */
export const autogenHttpToolConfigSchema = z.strictObject({
  ...sharedShape,
  description: z.string().nullish(),
  scheme: z.enum(["http", "https"]).default("http"),
  host: z.string(),
  port: z.int(),
  path: z.string().default("/"),
  method: z.enum(["GET", "POST", "PUT", "DELETE", "PATCH"]).nullish(),
  /** What a result is follows from what it is here. */
  return_type: z.enum(["text", "json"]).nullish(),
})

type Config = z.output<typeof httpToolConfigSchema>

export function optionsFromConfig(config: Config): HttpToolOptions<JsonSchema> {
  const { name, description, url, allow } = config
  return {
    name,
    description,
    url,
    allow,
    method: config.method ?? undefined,
    headers: config.headers ?? undefined,
    parameters: config.json_schema ?? undefined,
    strict: config.strict ?? undefined,
    timeoutMs: milliseconds(config.timeout),
    maxBytes: config.max_bytes ?? undefined,
    allowPrivate: config.allow_private ?? undefined,
    ...choicesFromConfig(config),
  }
}

export function optionsFromAutogen(
  config: z.output<typeof autogenHttpToolConfigSchema>,
): HttpToolOptions<JsonSchema> {
  const { name, description, scheme, host, port, path, method } = config
  // Without the port that goes without saying.
  const { origin } = new URL(`${scheme}://${host}:${port}`)
  return {
    name,
    description: description || name,
    url: `${origin}${path.startsWith("/") ? path : `/${path}`}`,
    allow: [`${host}:${port}`],
    method: method ?? "POST",
    headers: config.headers ?? undefined,
    parameters: config.json_schema ?? undefined,
    timeoutMs: milliseconds(config.timeout),
  }
}

/** Everything but secrets and functions, which COMPONENT_INVALID names. */
export function configFromOptions(
  options: HttpToolOptions<ToolParameters>,
  inQuery: ReadonlySet<string>,
): Config {
  const { name, description, url, allow, method, headers, parameters, timeoutMs } = options
  const what = `HTTP tool ${name}`
  refuseFunctions(what, { headers })
  const secret = [...Object.keys(headers ?? {}), ...inQuery].find(isSecretName)
  if (secret !== undefined) {
    throw invalid(what, `${secret} looks like a secret, and data is no place for one`)
  }
  if (parameters !== undefined && "~standard" in parameters) {
    throw invalid(what, "its parameters are a schema with code of its own. Pass JSON Schema")
  }
  return {
    name,
    description,
    url,
    allow: [...allow],
    method,
    headers: headers as Record<string, string> | undefined,
    json_schema: parameters,
    strict: options.strict,
    timeout: seconds(timeoutMs),
    max_bytes: options.maxBytes,
    allow_private: options.allowPrivate,
    ...choicesToConfig(what, options),
  }
}

function invalid(what: string, problem: string): GloveboxError {
  return new GloveboxError(
    "COMPONENT_INVALID",
    `${what} cannot be written down: ${problem}; or register the tool by its name with toolComponent().`,
  )
}
