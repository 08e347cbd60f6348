import { z } from "zod"
import {
  type Component,
  type ComponentDefinition,
  type ComponentModel,
  GloveboxError,
  defineComponent,
} from "../../core/index.ts"
import type { CacheStore } from "./cache-store.ts"

export interface MemoryCacheStoreOptions {
  /** How many answers are kept; the one that was not used for longest goes first. @default 1000 */
  readonly maxEntries?: number | undefined
}

const configSchema = z.object({ max_entries: z.int().positive().nullish() })

/** Keeps answers for as long as the process lives. */
export class MemoryCacheStore implements CacheStore, Component {
  static readonly definition: ComponentDefinition<z.input<typeof configSchema>, MemoryCacheStore> =
    defineComponent({
      provider: "glovebox.models.MemoryCacheStore",
      aliases: ["autogen_core.InMemoryStore"],
      type: "cache_store",
      config: configSchema,
      create: ({ max_entries: maxEntries }) => new MemoryCacheStore({ maxEntries: maxEntries ?? undefined }),
    })

  // A map keeps its order: what was used last is moved to its end.
  readonly #entries = new Map<string, string>()
  readonly #maxEntries: number

  constructor({ maxEntries = 1000 }: MemoryCacheStoreOptions = {}) {
    if (!Number.isInteger(maxEntries) || maxEntries < 1) {
      throw new GloveboxError("OPTION_INVALID", `maxEntries is ${maxEntries}. Use a whole number from 1.`)
    }
    this.#maxEntries = maxEntries
  }

  /** Without the answers. */
  toComponent(): ComponentModel {
    return MemoryCacheStore.definition.dump({ max_entries: this.#maxEntries })
  }

  async get(key: string): Promise<string | undefined> {
    const value = this.#entries.get(key)
    if (value !== undefined) {
      this.#entries.delete(key)
      this.#entries.set(key, value)
    }
    return value
  }

  async set(key: string, value: string): Promise<void> {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.#maxEntries && oldest !== undefined) this.#entries.delete(oldest)
  }
}
