import { z } from "zod"
import type { Subscription } from "../../../core/index.ts"
import { coversName, coversPrefix, scopePatternSchema } from "./scope-pattern.ts"

const scope = z.array(scopePatternSchema).default([])

/** What the holder of a token may do; what is not named, it may not. */
export const grantScopesSchema = z.strictObject({
  name: z.string().min(1, "is empty").max(100, "is longer than 100 characters"),
  clientId: z.string().min(1, "is empty").optional(),
  register: scope,
  publish: scope,
  subscribe: scope,
  send: scope,
})

/** Each list has exact names, or beginnings with one `*` at the end; a list that is absent allows nothing. */
export interface GrantScopes {
  /** For the host's logs; it is no secret. */
  readonly name: string
  /** The one client id that may use it. @default any that no other token uses */
  readonly clientId?: string | undefined
  /** Agent types that a worker may register. @default [] */
  readonly register?: readonly string[] | undefined
  /** Topic types that it may publish to. @default [] */
  readonly publish?: readonly string[] | undefined
  /** Topic types that its agents may subscribe to. @default [] */
  readonly subscribe?: readonly string[] | undefined
  /** Agent types that it may send to, and whose state it may ask for. @default [] */
  readonly send?: readonly string[] | undefined
}

/** What one connected worker may do. */
export class Grant {
  /** Of a host that asks for no token. */
  static readonly everything = new Grant({
    name: "anyone",
    register: ["*"],
    publish: ["*"],
    subscribe: ["*"],
    send: ["*"],
  })

  readonly name: string
  readonly clientId: string | undefined
  readonly #register: readonly string[]
  readonly #publish: readonly string[]
  readonly #subscribe: readonly string[]
  readonly #send: readonly string[]

  constructor({ name, clientId, register = [], publish = [], subscribe = [], send = [] }: GrantScopes) {
    this.name = name
    this.clientId = clientId
    this.#register = [...register]
    this.#publish = [...publish]
    this.#subscribe = [...subscribe]
    this.#send = [...send]
  }

  mayRegister(agentType: string): boolean {
    return coversName(this.#register, agentType)
  }

  mayPublish(topicType: string): boolean {
    return coversName(this.#publish, topicType)
  }

  maySubscribe(topicType: string): boolean {
    return coversName(this.#subscribe, topicType)
  }

  /** Every topic type with that prefix must be allowed. */
  maySubscribePrefix(prefix: string): boolean {
    return coversPrefix(this.#subscribe, prefix)
  }

  /** Its agents only: else a worker could have events delivered to agents of others. */
  mayAddSubscription(subscription: Subscription): boolean {
    if (!this.mayRegister(subscription.agentType)) return false
    if (subscription.kind === "type") return this.maySubscribe(subscription.topicType)
    const { topicTypePrefix, agentType } = subscription
    // AutoGen subscribes each agent type to its own channel when it is registered.
    return topicTypePrefix === `${agentType}:` || this.maySubscribePrefix(topicTypePrefix)
  }

  maySend(agentType: string): boolean {
    return coversName(this.#send, agentType)
  }
}
