import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { isAbsolute, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import type { AgentRuntime } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { CommandFailure } from "../command-failure.ts"

export type RegisterAgents = (runtime: AgentRuntime) => unknown

/** The `register` of a module: a file, or a package that is installed where the command was started. */
export async function loadAgentsModule(name: string, folder: string): Promise<RegisterAgents> {
  const { href } = pathToFileURL(pathOf(name, folder))
  const module = await import(href).then(
    (loaded: object): object => loaded,
    (cause: unknown) => {
      throw new CommandFailure(`${name} cannot be loaded: ${reasonOf(cause)}`, { cause })
    },
  )
  const register: unknown = "register" in module ? module.register : undefined
  if (typeof register === "function") return register as RegisterAgents
  throw new CommandFailure(
    `${name} exports no function "register". Write: export async function register(runtime) { await runtime.register(...) }`,
  )
}

function pathOf(name: string, folder: string): string {
  const path = resolve(folder, name)
  if (existsSync(path)) return path
  if (name.startsWith(".") || isAbsolute(name)) throw new CommandFailure(`${name} does not exist.`)
  try {
    return createRequire(join(folder, "package.json")).resolve(name)
  } catch (cause) {
    throw new CommandFailure(
      `${name} is neither a file nor a package that is installed in ${folder}. Give the path of its file.`,
      { cause },
    )
  }
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined
  if (code === "ERR_UNKNOWN_FILE_EXTENSION") {
    return `Node ${process.versions.node} does not run TypeScript by itself. Compile it, or install tsx and set NODE_OPTIONS="--import tsx".`
  }
  return errorMessage(cause)
}
