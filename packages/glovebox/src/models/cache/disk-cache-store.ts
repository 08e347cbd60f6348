import { randomUUID } from "node:crypto"
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  defineComponent,
} from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"
import type { CacheStore } from "./cache-store.ts"

// Keys are digests; anything else could lead out of the folder.
const KEY = /^[0-9a-f]{64}$/

const configSchema = z.object({ directory: z.string().min(1) })

/** Keeps answers in a folder, one file each, that processes may share. */
export class DiskCacheStore implements CacheStore, Component {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, DiskCacheStore> =
    defineComponent({
      provider: "glovebox.models.DiskCacheStore",
      aliases: ["autogen_ext.cache_store.diskcache.DiskCacheStore"],
      type: "cache_store",
      config: configSchema,
      create: ({ directory }) => new DiskCacheStore(directory),
    })

  readonly #folder: string

  constructor(folder: string) {
    if (typeof folder !== "string" || folder === "") {
      throw new GloveboxError("OPTION_INVALID", `The folder of a cache is ${describe(folder)}. Pass a path.`)
    }
    this.#folder = resolve(folder)
  }

  toComponent(): ComponentModel {
    return DiskCacheStore.definition.dump({ directory: this.#folder })
  }

  async get(key: string): Promise<string | undefined> {
    try {
      return await readFile(this.#path(key), "utf8")
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
      throw error
    }
  }

  async set(key: string, value: string): Promise<void> {
    const path = this.#path(key)
    const folder = dirname(path)
    // Conversations are nobody else's business.
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // Beside its place, so that it appears there whole or not at all.
    const draft = join(folder, `.${key}.${randomUUID()}`)
    try {
      await writeFile(draft, value, { mode: 0o600, flag: "wx" })
      await rename(draft, path)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  }

  #path(key: string): string {
    if (!KEY.test(key)) {
      throw new GloveboxError("OPTION_INVALID", `The key ${describe(key)} is no SHA-256 digest in hex.`)
    }
    return join(this.#folder, key.slice(0, 2), `${key}.json`)
  }
}
