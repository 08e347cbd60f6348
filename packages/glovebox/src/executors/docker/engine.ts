import { randomUUID } from "node:crypto"
import { Agent } from "node:http"
import { Agent as SecureAgent } from "node:https"
import type { Duplex } from "node:stream"
import type Docker from "dockerode"
import { GloveboxError } from "../../core/index.ts"
import { withBrokenAnswers } from "./broken-answers.ts"
import type { EngineAddress } from "./engine-address.ts"
import { loadClient } from "./engine-client.ts"
import { engineFailure, engineSaid, statusOf } from "./engine-failure.ts"
import type { ContainerSpec } from "./container-spec.ts"
import { type EngineAnswer, type EngineInfo, readEngineInfo } from "./engine-info.ts"
import { type PullProgress, followPull } from "./follow-pull.ts"
import { NAME_LABEL } from "./ownership.ts"
import { sshAgent } from "./ssh-connection.ts"

export interface EngineImage {
  readonly id: string
  /** Places it declares as volumes. */
  readonly volumes: readonly string[]
  /** The names of the variables it sets. */
  readonly variables: readonly string[]
}

export interface FoundContainer {
  readonly id: string
  readonly name: string
  readonly image: string
  readonly state: string
  readonly createdAt: Date
  readonly labels: Readonly<Record<string, string>>
}

export interface FoundImage {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly bytes: number
}

export interface FrozenImage {
  readonly base: string
  /** A tar. */
  readonly archive: Uint8Array
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/** The part of the Docker Engine API that executors need, with typed errors. */
export class Engine {
  readonly address: EngineAddress
  readonly #client: Promise<Docker>
  readonly #agent: Agent

  constructor(address: EngineAddress) {
    this.address = address
    this.#agent = withBrokenAnswers(connections(address))
    this.#client = loadClient(address, this.#agent)
    // Whoever asks first reports it.
    this.#client.catch(() => {})
  }

  get isLocal(): boolean {
    return this.address.kind === "socket"
  }

  async info(signal?: AbortSignal): Promise<EngineInfo> {
    signal?.throwIfAborted()
    const limit = AbortSignal.timeout(15_000)
    const abortSignal = signal ? AbortSignal.any([signal, limit]) : limit
    const asking = this.ask("say what it is", async (docker) => {
      // The published types know less than the client does.
      const client = docker as unknown as Record<
        "info" | "version",
        (options: object) => Promise<EngineAnswer>
      >
      const [info, version] = await Promise.all([
        client.info({ abortSignal }),
        client.version({ abortSignal }),
      ])
      return readEngineInfo(info, version)
    })
    return asking.catch((error: unknown) => {
      signal?.throwIfAborted()
      throw error
    })
  }

  async image(name: string): Promise<EngineImage | undefined> {
    return this.ask(`look at the image ${name}`, async (docker) => {
      try {
        const image = await docker.getImage(name).inspect()
        return {
          id: image.Id,
          volumes: Object.keys(image.Config?.Volumes ?? {}),
          variables: (image.Config?.Env ?? []).map((entry) => entry.split("=", 1)[0] ?? ""),
        }
      } catch (error) {
        if (statusOf(error) === 404) return undefined
        throw error
      }
    })
  }

  async pull(
    image: string,
    onProgress: (progress: PullProgress) => void,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.ask(`pull ${image}`, async (docker) => {
      const stream = (await docker.pull(image, signal ? { abortSignal: signal } : {})) as Duplex
      const stop = (): void =>
        void stream.destroy(signal?.reason instanceof Error ? signal.reason : undefined)
      signal?.addEventListener("abort", stop, { once: true })
      try {
        await followPull(docker, stream, image, onProgress)
      } finally {
        signal?.removeEventListener("abort", stop)
      }
    })
    signal?.throwIfAborted()
  }

  async create(spec: ContainerSpec, name?: string): Promise<string> {
    return this.ask("create a container", async (docker) => {
      try {
        const container = await docker.createContainer({
          ...(spec as unknown as Docker.ContainerCreateOptions),
          ...(name === undefined ? {} : { name }),
        })
        return container.id
      } catch (error) {
        if (statusOf(error) === 409 && name !== undefined) {
          throw new GloveboxError(
            "CONTAINER_NAME_TAKEN",
            `There is a container named ${name} already, and it is left alone: choose another containerName.`,
            { cause: error },
          )
        }
        throw error
      }
    })
  }

  /** The container's stdin, and its stdout and stderr in the engine's frames. */
  async attach(id: string): Promise<Duplex> {
    return this.ask("attach to a container", async (docker) => {
      // By the transport itself: `container.attach` sends a body, which Podman gives to the container as input.
      const request = {
        path: `/containers/${encodeURIComponent(id)}/attach?`,
        method: "POST",
        options: { stream: true, stdin: true, stdout: true, stderr: true },
        file: Buffer.alloc(0),
        isStream: true,
        hijack: true,
        statusCodes: { 101: true, 200: true, 404: "no such container" },
      }
      return new Promise<Duplex>((resolve, reject) => {
        docker.modem.dial(request, (error: unknown, stream: unknown) =>
          error ? reject(error) : resolve(stream as Duplex),
        )
      })
    })
  }

  async start(id: string): Promise<void> {
    await this.ask("start a container", async (docker) => docker.getContainer(id).start())
  }

  async inspect(id: string): Promise<Docker.ContainerInspectInfo> {
    return this.ask("inspect a container", async (docker) => docker.getContainer(id).inspect())
  }

  /** Kills and removes it; one that is gone or going is no error. */
  async remove(id: string): Promise<void> {
    await this.ask("remove a container", async (docker) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          await docker.getContainer(id).remove({ force: true, v: true })
          return
        } catch (error) {
          const status = statusOf(error)
          if (status === 404) return
          if (status === 409 && /in progress/.test(engineSaid(error))) return await waitRemoved(docker, id)
          // Podman says so of a container that is just ending.
          if (attempt === 5 || status !== 500) throw error
          await new Promise((resolve) => setTimeout(resolve, 50 * attempt))
        }
      }
    })
  }

  /** Ends it, and leaves it where it is; one that has ended is no error. */
  async kill(id: string): Promise<void> {
    await this.ask("kill a container", async (docker) => {
      try {
        await docker.getContainer(id).kill()
      } catch (error) {
        if (statusOf(error) !== 404 && statusOf(error) !== 409) throw error
      }
    })
  }

  async list(labels: readonly string[]): Promise<FoundContainer[]> {
    return this.ask("list its containers", async (docker) => {
      const found = await docker.listContainers({ all: true, filters: { label: [...labels] } })
      return found.map(({ Id, Names, Image, State, Created, Labels }) => ({
        id: Id,
        name: (Names?.[0] ?? "").replace(/^\//, ""),
        image: Image,
        state: State,
        createdAt: new Date(Created * 1000),
        labels: Labels ?? {},
      }))
    })
  }

  async listImages(label: string): Promise<FoundImage[]> {
    return this.ask("list its images", async (docker) => {
      const found = await docker.listImages({ filters: { label: [label] } })
      return found.map(({ Id, RepoTags, Created, Size }) => ({
        id: Id,
        name: RepoTags?.[0] ?? "",
        createdAt: new Date(Created * 1000),
        bytes: Size,
      }))
    })
  }

  /** The ids of images that containers are made of. */
  async usedImages(): Promise<ReadonlySet<string>> {
    return this.ask("list its containers", async (docker) => {
      const containers = await docker.listContainers({ all: true })
      return new Set(containers.map(({ ImageID }) => ImageID))
    })
  }

  /** Removes an image that nothing uses; one that is gone is no error. */
  async removeImage(id: string): Promise<void> {
    await this.ask("remove an image", async (docker) => {
      try {
        await docker.getImage(id).remove()
      } catch (error) {
        if (statusOf(error) !== 404) throw error
      }
    })
  }

  /** Makes an image of another with an archive's files laid over its root. */
  async freeze({ base, archive, name, labels }: FrozenImage): Promise<void> {
    await this.ask(`make the image ${name}`, async (docker) => {
      const [repo, tag] = name.split(":")
      const containerName = `${repo?.replaceAll("/", "-")}-${tag}-${randomUUID()}`
      const container = await docker.createContainer({
        name: containerName,
        Image: base,
        Cmd: ["true"],
        NetworkDisabled: true,
        Labels: { ...labels, [NAME_LABEL]: containerName },
      })
      try {
        await container.putArchive(Buffer.from(archive), { path: "/" })
        await container.commit({ repo, tag })
      } finally {
        await container.remove({ force: true, v: true })
      }
    })
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Runs a request of the client, with typed errors; `doing` is for the message. */
  async ask<T>(doing: string, request: (docker: Docker) => Promise<T>): Promise<T> {
    try {
      return await request(await this.#client)
    } catch (error) {
      throw engineFailure(error, doing, this.address.url)
    }
  }
}

function connections(address: EngineAddress): Agent {
  if (address.kind === "ssh") return sshAgent(address)
  const isEncrypted = address.kind === "tcp" && address.tls !== undefined
  return isEncrypted ? new SecureAgent({ keepAlive: true }) : new Agent({ keepAlive: true })
}

// The engine is at it already, by itself or for another.
async function waitRemoved(docker: Docker, id: string): Promise<void> {
  try {
    await docker.getContainer(id).wait({ condition: "removed" })
  } catch (error) {
    if (statusOf(error) !== 404) throw error
  }
}
