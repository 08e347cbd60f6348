import { statfs } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { GloveboxError } from "../core/index.ts"
import { chooseRuntime, isGvisor } from "../executors/docker/choose-runtime.ts"
import { type EngineAddressOptions, currentContext } from "../executors/docker/engine-address.ts"
import type { EngineInfo } from "../executors/docker/engine-info.ts"
import { engineRemedy } from "../executors/docker/engine-remedy.ts"
import type { Engine } from "../executors/docker/engine.ts"
import { errorMessage } from "../internal/error-message.ts"
import { SandboxPolicy } from "../policy/index.ts"
import type { HealthCheck } from "./health-check.ts"

const LOW_DISK_BYTES = 1024 ** 3
const ADD_GVISOR =
  "for a kernel of its own around the code, install runsc (https://gvisor.dev/docs/user_guide/install), then: sudo runsc install && sudo systemctl restart docker"

/** What the engine's own description tells; it does so only when it answers. */
export async function checkEngine(
  engine: Engine,
  foundBy: string,
  signal: AbortSignal,
): Promise<HealthCheck[]> {
  const where = `${engine.address.url} (${foundBy})`
  let info: EngineInfo
  let more: MoreInfo
  try {
    info = await engine.info(signal)
    more = await engine.ask("say what it is", async (docker) => (await docker.info()) as MoreInfo)
  } catch (error) {
    signal.throwIfAborted()
    return [
      { name: "engine", status: "fail", seen: `${where}: ${failureOf(error)}`, remedy: engineRemedy(error) },
    ]
  }
  const kind = info.isPodman ? "Podman" : "Docker"
  const rootless = more.SecurityOptions?.some((option) => option.includes("rootless")) ? ", rootless" : ""
  return [
    {
      name: "engine",
      status: "ok",
      seen: `${where}: ${kind} ${info.version}${rootless}, ${info.operatingSystem}, ${info.architecture}`,
      details: { url: engine.address.url, foundBy, version: info.version },
    },
    checkControls(info, more),
    await checkStorage(engine, more),
    checkRuntimes(info),
  ]
}

/** By which of the ways an engine is found this one was. */
export async function howFound(options: EngineAddressOptions, env = process.env): Promise<string> {
  if (options.dockerHost !== undefined) return "by --docker-host"
  if (options.dockerContext !== undefined) return "by --docker-context"
  if (env["DOCKER_HOST"]) return "by DOCKER_HOST"
  if (env["DOCKER_CONTEXT"]) return "by DOCKER_CONTEXT"
  const context = await currentContext(env["DOCKER_CONFIG"] || join(homedir(), ".docker"))
  return context === undefined || context === "default"
    ? "at the usual place"
    : `by the Docker context ${context}`
}

function failureOf(error: unknown): string {
  const cause = GloveboxError.is(error, "ENGINE_UNAVAILABLE") ? error.cause : undefined
  return `does not answer (${errorMessage(cause ?? error)})`
}

// Of the engine's answer, what the executor itself has no use for.
interface MoreInfo {
  readonly Driver?: string
  readonly DockerRootDir?: string
  readonly SecurityOptions?: readonly string[]
  readonly MemoryLimit?: boolean
  readonly PidsLimit?: boolean
  readonly CpuCfsQuota?: boolean
}

function checkControls({ cgroupVersion }: EngineInfo, more: MoreInfo): HealthCheck {
  const missing = [
    ...(more.MemoryLimit === false ? ["memory"] : []),
    ...(more.PidsLimit === false ? ["processes"] : []),
    ...(more.CpuCfsQuota === false ? ["processor time"] : []),
  ]
  const version = cgroupVersion === "" ? "of unknown version" : `version ${cgroupVersion}`
  if (missing.length === 0) return { name: "cgroups", status: "ok", seen: version }
  return {
    name: "cgroups",
    status: "fail",
    seen: `${version}, and the engine cannot limit ${missing.join(", ")}`,
    remedy:
      "use cgroup v2; a rootless engine also needs delegation: https://docs.docker.com/engine/security/rootless/tips/#limiting-resources",
  }
}

async function checkStorage(engine: Engine, { Driver, DockerRootDir }: MoreInfo): Promise<HealthCheck> {
  const driver = Driver ?? "unknown"
  const free = engine.isLocal && DockerRootDir !== undefined ? await freeBytes(DockerRootDir) : undefined
  const room = free === undefined ? "" : `, ${(free / 1024 ** 3).toFixed(1)} GiB free in ${DockerRootDir}`
  const seen = `${driver}${room}`
  if (free !== undefined && free < LOW_DISK_BYTES) {
    return {
      name: "storage",
      status: "warn",
      seen,
      remedy: "make room: glovebox gc, then docker system df shows what takes it",
    }
  }
  if (driver !== "vfs") return { name: "storage", status: "ok", seen }
  const remedy = "vfs copies the whole image for every container: use overlay2"
  return { name: "storage", status: "warn", seen, remedy }
}

// Absent where the engine has its disk elsewhere, as in Docker Desktop.
async function freeBytes(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch {
    return undefined
  }
}

function checkRuntimes(info: EngineInfo): HealthCheck {
  const { name, isolation, because } = chooseRuntime(new SandboxPolicy().fields, info)
  const seen = `${name} is used: ${because ?? ""} (it has ${Object.keys(info.runtimes).join(", ")})`
  const details = { used: name, isolation, registered: Object.keys(info.runtimes) }
  if (isolation === "userspace-kernel") return { name: "runtime", status: "ok", seen, details }
  const remedy = Object.keys(info.runtimes).some(isGvisor)
    ? "register runsc without --ignore-cgroups in /etc/docker/daemon.json, and restart the engine"
    : ADD_GVISOR
  return { name: "runtime", status: "warn", seen, remedy, details }
}
