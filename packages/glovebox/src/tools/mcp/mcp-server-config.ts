import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import { isSecretName } from "../secret-name.ts"
import type { McpServerParams, ReadServerParams } from "./mcp-server-params.ts"

const ignored = z.unknown().optional()

/** A server in a component's data, by AutoGen's names. */
export const serverConfigSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("StdioServerParams"),
    command: z.string(),
    args: z.array(z.string()).nullish(),
    /** Read, but never written. */
    env: z.record(z.string(), z.string()).nullish(),
    /** Variables that it gets with the values that they have in this process. */
    env_names: z.array(z.string()).nullish(),
    cwd: z.string().nullish(),
    // Of AutoGen, and always so here.
    encoding: ignored,
    encoding_error_handler: ignored,
    read_timeout_seconds: z.number().positive().nullish(),
  }),
  z.strictObject({
    type: z.literal("StreamableHttpServerParams"),
    url: z.string(),
    headers: z.record(z.string(), z.string()).nullish(),
    timeout: ignored,
    sse_read_timeout: ignored,
    terminate_on_close: ignored,
  }),
])

type ServerConfig = z.output<typeof serverConfigSchema>

export function serverFromConfig(config: ServerConfig): McpServerParams {
  if (config.type === "StreamableHttpServerParams") {
    return { url: config.url, headers: config.headers ?? undefined }
  }
  const { command, args, env, env_names: names, cwd } = config
  return {
    command,
    args: args ?? undefined,
    env: { ...env, ...Object.fromEntries((names ?? []).map((name) => [name, variable(name)])) },
    cwd: cwd ?? undefined,
  }
}

/** Without values that may be secret; COMPONENT_INVALID for those that could not be found again. */
export function serverToConfig(server: ReadServerParams): z.input<typeof serverConfigSchema> {
  if ("url" in server) {
    const { username, password, searchParams } = new URL(server.url)
    const secret = [...Object.keys(server.headers), ...searchParams.keys()].find(isSecretName)
    if (secret !== undefined || username !== "" || password !== "") {
      throw invalid(
        `${secret ?? "the address's user name"} looks like a secret, and data is no place for one`,
      )
    }
    return {
      type: "StreamableHttpServerParams",
      url: server.url,
      headers: Object.keys(server.headers).length === 0 ? undefined : server.headers,
    }
  }
  const { command, args, env, cwd } = server
  const own = Object.keys(env).find((name) => process.env[name] !== env[name])
  if (own !== undefined) {
    throw invalid(
      `env.${own} has a value that this process's environment has not, and values are not written down. Set ${own} there, and pass env: { ${own}: process.env.${own} }`,
    )
  }
  return {
    type: "StdioServerParams",
    command,
    args: args.length === 0 ? undefined : args,
    env_names: Object.keys(env).length === 0 ? undefined : Object.keys(env),
    cwd,
  }
}

function variable(name: string): string {
  const value = process.env[name]
  if (value !== undefined) return value
  throw invalid(`the variable ${name}, which its server gets, is not set in this process's environment`)
}

function invalid(problem: string): GloveboxError {
  return new GloveboxError("COMPONENT_INVALID", `The MCP workbench is not to be had as data: ${problem}.`)
}
