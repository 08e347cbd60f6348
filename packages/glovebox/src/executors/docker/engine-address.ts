import { readFile } from "node:fs/promises"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { GloveboxError } from "../../core/index.ts"

/** Certificates for `tcp://`: the texts themselves, in PEM. */
export interface EngineTls {
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

export interface EngineAddressOptions {
  /** `unix://`, `tcp://`, `ssh://` or `npipe://`. @default DOCKER_HOST, the Docker context, the local engine */
  readonly dockerHost?: string | undefined
  /** A context of the Docker command. */
  readonly dockerContext?: string | undefined
  /** @default the files in DOCKER_CERT_PATH, or of the context */
  readonly tls?: EngineTls | undefined
  /** Plain `tcp://` gives root on that machine to whoever listens in; it is refused beyond loopback unless asked for here. */
  readonly dangerouslyAllowPlaintext?: boolean | undefined
}

export type EngineAddress = { readonly url: string } & (
  | { readonly kind: "socket"; readonly path: string }
  | {
      readonly kind: "tcp"
      readonly host: string
      readonly port: number
      readonly tls?: EngineTls | undefined
    }
  | { readonly kind: "ssh"; readonly target: string; readonly port?: string | undefined }
)

type Environment = Readonly<Record<string, string | undefined>>

/** Where the engine is, by the options, the environment, the Docker context, or the usual places. */
export async function findEngine(
  options: EngineAddressOptions = {},
  env: Environment = process.env,
): Promise<EngineAddress> {
  const configFolder = env["DOCKER_CONFIG"] || join(homedir(), ".docker")
  if (options.dockerHost !== undefined) return parse(options.dockerHost, options, env, options.tls)
  const named = options.dockerContext ?? (env["DOCKER_HOST"] ? undefined : env["DOCKER_CONTEXT"])
  if (named === undefined && env["DOCKER_HOST"]) return parse(env["DOCKER_HOST"], options, env, options.tls)
  const context = named || (await currentContext(configFolder))
  if (context !== undefined && context !== "default") return readContext(context, configFolder, options, env)
  return parse(usualPlace(env), options, env)
}

export async function currentContext(configFolder: string): Promise<string | undefined> {
  const file = join(configFolder, "config.json")
  const text = await readFile(file, "utf8").catch(() => undefined)
  if (text === undefined) return undefined
  try {
    const config: unknown = JSON.parse(text)
    const name = (config as { currentContext?: unknown } | null)?.currentContext
    return typeof name === "string" && name !== "" ? name : undefined
  } catch (cause) {
    throw invalid(
      `${file} is not JSON, so which engine is meant cannot be told. Mend it, or give dockerHost.`,
      cause,
    )
  }
}

interface ContextFile {
  readonly Endpoints?: { readonly docker?: { readonly Host?: string; readonly SkipTLSVerify?: boolean } }
}

async function readContext(
  name: string,
  configFolder: string,
  options: EngineAddressOptions,
  env: Environment,
): Promise<EngineAddress> {
  // Docker's command files a context under the hash of its name.
  const id = createHash("sha256").update(name).digest("hex")
  let file: ContextFile
  try {
    file = JSON.parse(
      await readFile(join(configFolder, "contexts", "meta", id, "meta.json"), "utf8"),
    ) as ContextFile
  } catch (cause) {
    throw invalid(
      `There is no Docker context "${name}" in ${configFolder}: docker context ls lists them.`,
      cause,
    )
  }
  const endpoint = file.Endpoints?.docker
  if (!endpoint?.Host) throw invalid(`The Docker context "${name}" names no engine.`)
  if (endpoint.SkipTLSVerify) {
    throw invalid(
      `The Docker context "${name}" skips the check of the engine's certificate; that is refused.`,
    )
  }
  const tls = options.tls ?? (await readTls(join(configFolder, "contexts", "tls", id, "docker")))
  return parse(endpoint.Host, options, env, tls)
}

async function readTls(folder: string): Promise<EngineTls | undefined> {
  const read = async (name: string): Promise<string | undefined> =>
    readFile(join(folder, name), "utf8").catch(() => undefined)
  const [ca, cert, key] = await Promise.all([read("ca.pem"), read("cert.pem"), read("key.pem")])
  return ca === undefined && cert === undefined ? undefined : { ca, cert, key }
}

function usualPlace(env: Environment): string {
  if (process.platform === "win32") return "npipe:////./pipe/docker_engine"
  const runtimeFolder = env["XDG_RUNTIME_DIR"]
  const places = [
    "/var/run/docker.sock",
    ...(runtimeFolder ? [join(runtimeFolder, "docker.sock")] : []),
    join(homedir(), ".docker", "run", "docker.sock"),
    join(homedir(), ".docker", "desktop", "docker.sock"),
  ]
  return `unix://${places.find((place) => existsSync(place)) ?? "/var/run/docker.sock"}`
}

async function parse(
  text: string,
  options: EngineAddressOptions,
  env: Environment,
  tls?: EngineTls,
): Promise<EngineAddress> {
  const [, scheme, rest] = /^(unix|npipe|tcp|http|https|ssh):\/\/(.*)$/s.exec(text) ?? []
  if (scheme === undefined || rest === undefined || rest === "" || /[\s\p{Cc}]/u.test(text)) {
    throw invalid(
      `${JSON.stringify(text)} is not the address of an engine: write unix:///path, tcp://host:port or ssh://user@host.`,
    )
  }
  if (scheme === "unix" || scheme === "npipe") return { kind: "socket", path: rest, url: text }
  if (scheme === "ssh") return parseSsh(text)
  return parseTcp(text, scheme, options, env, tls)
}

function parseSsh(text: string): EngineAddress {
  const { hostname, username, port, password } = readUrl(text)
  if (password !== "") throw invalid("A password in an ssh:// address is refused: use a key or an agent.")
  const host = hostname.replace(/^\[|\]$/g, "")
  const target = username === "" ? host : `${decode(username)}@${host}`
  // A name that begins with a dash would be an option of ssh.
  if (!/^\w[\w.@:%+-]*$/.test(target)) throw invalid(`${JSON.stringify(text)} names no host that ssh takes.`)
  return { kind: "ssh", target, port: port === "" ? undefined : port, url: text }
}

// What cannot be decoded is refused as it stands.
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return "-"
  }
}

async function parseTcp(
  text: string,
  scheme: string,
  options: EngineAddressOptions,
  env: Environment,
  given: EngineTls | undefined,
): Promise<EngineAddress> {
  const { hostname, port } = readUrl(text.replace(/^(tcp|https?):/, "tcp:"))
  const certificates = env["DOCKER_CERT_PATH"]
  const wantsTls = scheme === "https" || given !== undefined || Boolean(env["DOCKER_TLS_VERIFY"])
  const tls = wantsTls ? (given ?? (certificates ? await readTls(certificates) : undefined) ?? {}) : undefined
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  if (tls === undefined && !isLoopback && !options.dangerouslyAllowPlaintext) {
    throw invalid(
      `${text} has no TLS, and whoever reaches or hears it is root on that machine: give tls, or DOCKER_TLS_VERIFY and DOCKER_CERT_PATH, or use ssh://.`,
    )
  }
  const host = hostname.replace(/^\[|\]$/g, "")
  return { kind: "tcp", host, port: port === "" ? (tls ? 2376 : 2375) : Number(port), tls, url: text }
}

function readUrl(text: string): URL {
  try {
    return new URL(text)
  } catch (cause) {
    throw invalid(`${JSON.stringify(text)} is not the address of an engine.`, cause)
  }
}

function invalid(message: string, cause?: unknown): GloveboxError {
  return new GloveboxError("OPTION_INVALID", message, cause === undefined ? undefined : { cause })
}
