import { createHash, randomUUID } from "node:crypto"
import { EventEmitter, once } from "node:events"
import { type IncomingMessage, type ServerResponse, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { arch } from "node:os"
import { gzipSync } from "node:zlib"
import { type TarEntry, packTar } from "modern-tar"
import { dockerCommand } from "./docker-command.test-kit.ts"
import { fileEntry } from "./image-files.test-kit.ts"

const MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
const CONFIG = "application/vnd.docker.container.image.v1+json"
const LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"

export interface PushedImage {
  /** As the engine takes it: host, name and tag. */
  readonly reference: string
  /** As the engine takes it: host, name and digest. */
  readonly pinned: string
  readonly digest: string
  /** The digest of the layer that only this image has. */
  readonly layer: string
}

/** An answer that is begun and not ended. */
export interface Stall {
  /** Resolves when the engine has asked, and has half of the answer. */
  readonly asked: Promise<unknown>
  /** From now on answers whole; what was begun stays so. */
  lift(): void
  /** Gives the rest, now and from now on. */
  release(): void
}

/** A registry on loopback that speaks the part of the distribution API by which an engine pulls. */
export class Registry implements AsyncDisposable {
  /** What was asked for, as "GET manifests/tag". */
  readonly requests: string[] = []
  /** By digest: what is given in its place; undefined for nothing. */
  readonly forged = new Map<string, string | undefined>()
  readonly #label = `org.glovebox.test=registry-${randomUUID()}`
  readonly #blobs = new Map<string, Buffer>()
  readonly #tags = new Map<string, string>()
  readonly #stalls = new Map<string, (response: ServerResponse, bytes: Buffer) => void>()
  readonly #server = createServer((request, response) => this.#answer(request, response))
  readonly #base: Buffer

  private constructor(base: Buffer) {
    this.#base = base
  }

  static async start(base: readonly TarEntry[]): Promise<Registry> {
    const registry = new Registry(Buffer.from(await packTar([...base])))
    registry.#server.listen(0, "127.0.0.1")
    await once(registry.#server, "listening")
    return registry
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Puts an image under a name of the form "name:tag", or in another's place there; its file /version says the text. */
  async push(name: string, version: string): Promise<PushedImage> {
    const [repository = "", tag = ""] = name.split(":")
    const own = await packTar([
      fileEntry("version", version),
      fileEntry("unique", createHash("sha512").update(randomUUID()).digest("hex").repeat(8)),
    ])
    const layers = [this.#base, Buffer.from(own)]
    const blobs = layers.map((layer) => this.#add(gzipSync(layer)))
    const [labelName = "", labelValue] = this.#label.split("=")
    const config = this.#addJson({
      architecture: arch() === "x64" ? "amd64" : arch(),
      os: "linux",
      config: { Env: ["PATH=/bin:/usr/bin"], Cmd: ["sh"], Labels: { [labelName]: labelValue } },
      rootfs: { type: "layers", diff_ids: layers.map(digestOf) },
      history: layers.map(() => ({ created: "2020-01-01T00:00:00Z", created_by: "a test" })),
    })
    const digest = this.#addJson({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: { mediaType: CONFIG, ...config },
      layers: blobs.map((blob) => ({ mediaType: LAYER, ...blob })),
    }).digest
    this.#tags.set(`${repository}:${tag}`, digest)
    return {
      reference: `${this.host}/${name}`,
      pinned: `${this.host}/${repository}@${digest}`,
      digest,
      layer: blobs[1]?.digest ?? "",
    }
  }

  stall(digest: string): Stall {
    const held = new Set<() => void>()
    const answered = new EventEmitter()
    this.#stalls.set(digest, (response, bytes) => {
      response.write(bytes.subarray(0, bytes.length / 2), () => answered.emit("asked"))
      held.add(() => response.end(bytes.subarray(bytes.length / 2)))
    })
    const lift = (): void => void this.#stalls.delete(digest)
    const release = (): void => {
      lift()
      for (const give of held) give()
    }
    return { asked: once(answered, "asked"), lift, release }
  }

  /** Ends it, and removes what the engine has from it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    const ids = await dockerCommand("images", "-aq", "--no-trunc", "--filter", `label=${this.#label}`)
    const images = [...new Set(ids.split("\n").filter(Boolean))]
    if (images.length > 0) await dockerCommand("rmi", "-f", ...images)
  }

  #add(bytes: Buffer): { digest: string; size: number } {
    const digest = digestOf(bytes)
    this.#blobs.set(digest, bytes)
    return { digest, size: bytes.length }
  }

  #addJson(value: unknown): { digest: string; size: number } {
    return this.#add(Buffer.from(JSON.stringify(value), "utf8"))
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "" } = request
    response.setHeader("Docker-Distribution-Api-Version", "registry/2.0")
    const [, repository = "", kind, name = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(url) ?? []
    this.requests.push(`${method} ${kind === undefined ? url : `${kind}/${name}`}`)
    if (url === "/v2/") return void response.end("{}")
    const digest = name.startsWith("sha256:") ? name : this.#tags.get(`${repository}:${name}`)
    const served = digest !== undefined && this.forged.has(digest) ? this.forged.get(digest) : digest
    const bytes = served === undefined ? undefined : this.#blobs.get(served)
    if (kind === undefined || digest === undefined || bytes === undefined) {
      response.writeHead(404, { "Content-Type": "application/json" })
      const code = kind === "blobs" ? "BLOB_UNKNOWN" : "MANIFEST_UNKNOWN"
      return void response.end(JSON.stringify({ errors: [{ code, message: "there is none here" }] }))
    }
    response.writeHead(200, {
      "Content-Type": kind === "manifests" ? MANIFEST : "application/octet-stream",
      "Content-Length": bytes.length,
      "Docker-Content-Digest": digest,
    })
    const stalled = this.#stalls.get(digest)
    if (method === "HEAD") response.end()
    else if (stalled) stalled(response, bytes)
    else response.end(bytes)
  }
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`
}
