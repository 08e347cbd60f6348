import { setTimeout as sleep } from "node:timers/promises"
import type { AgentId } from "../../../core/agent-id.ts"
import { GloveboxError } from "../../../core/glovebox-error.ts"
import type { Subscription } from "../../../core/subscription.ts"
import { toWireSubscription } from "../wire/subscription-wire.ts"
import type { HostConnection } from "./host-connection.ts"
import type { WorkerPort } from "./worker-port.ts"
import { hostFailure } from "./host-failure.ts"

const CALL_MS = 10_000
// AutoGen's host takes a moment to forget the connection that this worker had before.
const PLAIN_RETRY_MS = 100
const PLAIN_RETRIES = 20

/** What a host does not take. */
export interface Refused {
  readonly type: string
  readonly keys?: readonly string[] | undefined
  /** The id of a subscription; without, it is the type or the keys that were refused. */
  readonly subscription?: string | undefined
}

/** What the host must know of this worker: its agent types, its single agents, and their subscriptions. */
export class Registrations {
  readonly #port: WorkerPort
  readonly #clientId: string
  readonly #types = new Set<string>()
  /** Keys of the agents that were registered one by one. */
  readonly #instances = new Map<string, Set<string>>()

  constructor(port: WorkerPort, clientId: string) {
    this.#port = port
    this.#clientId = clientId
  }

  get types(): readonly string[] {
    return [...this.#types, ...this.#instances.keys()]
  }

  async addType(type: string): Promise<void> {
    this.#types.add(type)
    try {
      await this.#register(type, undefined)
    } catch (error) {
      this.#types.delete(type)
      throw error
    }
  }

  async addInstance({ key, type }: AgentId): Promise<void> {
    const keys = this.#instances.get(type) ?? new Set()
    const isNewType = keys.size === 0
    keys.add(key)
    this.#instances.set(type, keys)
    try {
      // AutoGen's host knows types only.
      if (isNewType || !this.#port.isPlain) await this.#register(type, [key])
    } catch (error) {
      this.removeInstance({ key, type })
      throw error
    }
  }

  removeType(type: string): void {
    this.#types.delete(type)
  }

  /** True when it was one. */
  removeInstance({ key, type }: AgentId): boolean {
    const keys = this.#instances.get(type)
    const wasThere = keys?.delete(key) ?? false
    if (keys?.size === 0) this.#instances.delete(type)
    return wasThere
  }

  async subscribe(subscription: Subscription): Promise<void> {
    await this.#call(`Subscription of "${subscription.agentType}" was refused`, (client, metadata, options) =>
      client.addSubscription(
        { subscription: { ...toWireSubscription(subscription), id: this.#wireId(subscription.id) } },
        metadata,
        options,
      ),
    )
  }

  async unsubscribe(id: string): Promise<void> {
    await this.#call("A subscription could not be removed", (client, metadata, options) =>
      client.removeSubscription({ id: this.#wireId(id) }, metadata, options),
    )
  }

  /** Tells a host that knows nothing of this worker; what it refuses is told to `onRefused`, which may throw. */
  async tellAll(
    subscriptions: readonly Subscription[],
    onRefused: (what: Refused, error: unknown) => void,
  ): Promise<void> {
    const wanted = [
      ...[...this.#types].map((type) => ({ type, keys: undefined })),
      ...[...this.#instances].flatMap(([type, keys]) =>
        this.#port.isPlain ? [{ type, keys: [...keys] }] : [...keys].map((key) => ({ type, keys: [key] })),
      ),
    ]
    await settleAll(
      wanted.map(async (what) => {
        try {
          await this.#registerPatiently(what.type, what.keys)
        } catch (error) {
          if (GloveboxError.is(error, "HOST_UNAVAILABLE")) throw error
          onRefused(what, error)
        }
      }),
    )
    await settleAll(
      subscriptions.map(async (subscription) => {
        try {
          await this.subscribe(subscription)
        } catch (error) {
          if (GloveboxError.is(error, "HOST_UNAVAILABLE")) throw error
          onRefused({ type: subscription.agentType, subscription: subscription.id }, error)
        }
      }),
    )
  }

  // Workers that share a type have the same subscriptions, which at the host must not be one.
  #wireId(id: string): string {
    return this.#port.isPlain ? id : `${id}@${this.#clientId}`
  }

  async #registerPatiently(type: string, keys: readonly string[] | undefined): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        await this.#register(type, keys)
        return
      } catch (error) {
        const mayPass =
          this.#port.isPlain &&
          this.#port.connection?.connected !== 0 &&
          GloveboxError.is(error, "AGENT_ALREADY_REGISTERED")
        if (!mayPass || tries >= PLAIN_RETRIES) throw error
        await sleep(PLAIN_RETRY_MS)
      }
    }
  }

  async #register(type: string, keys: readonly string[] | undefined): Promise<void> {
    await this.#call(`Agent type "${type}" was refused`, (client, metadata, options) =>
      client.registerAgent(
        keys === undefined || this.#port.isPlain ? { type } : { type, keys },
        metadata,
        options,
      ),
    )
  }

  async #call(
    what: string,
    call: (
      client: NonNullable<HostConnection["client"]>,
      metadata: ReturnType<HostConnection["metadata"]>,
      options: { readonly deadline: number },
    ) => Promise<unknown>,
  ): Promise<void> {
    const { connection } = this.#port
    // Before the start there is nobody to tell; then all is told.
    if (!connection) return
    const { client } = connection
    if (!client) throw new GloveboxError("HOST_UNAVAILABLE", `${what}: there is no connection to the host.`)
    try {
      await call(client, connection.metadata(), { deadline: Date.now() + CALL_MS })
    } catch (error) {
      throw hostFailure(error, what)
    }
  }
}

/** Waits for all, and throws the first error only then. */
async function settleAll(promises: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(promises))
    if (result.status === "rejected") throw result.reason
}
