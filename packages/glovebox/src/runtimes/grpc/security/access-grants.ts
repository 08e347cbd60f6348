import { timingSafeEqual } from "node:crypto"
import { z } from "zod"
import { GloveboxError, type Logger, silentLogger } from "../../../core/index.ts"
import { readOptions } from "../../../core/read-options.ts"
import { Grant, type GrantScopes, grantScopesSchema } from "./grant.ts"
import { type TokenGrant, hashOf, hashToken, tokensSchema } from "./tokens.ts"

/** A custom check: what the holder of the token may do, or undefined when it may not connect. */
export type Authenticate = (
  token: string | undefined,
  clientId: string,
) => GrantScopes | undefined | Promise<GrantScopes | undefined>

/** Whether a call is let in; the reason has no secret in it and may be told to the caller. */
export type Admission =
  | { readonly grant: Grant }
  | {
      readonly refusal: "UNAUTHENTICATED" | "PERMISSION_DENIED" | "RESOURCE_EXHAUSTED"
      readonly reason: string
    }

export interface AccessGrantsOptions {
  /** @default no token is asked for, and all is allowed */
  readonly tokens?: readonly TokenGrant[] | undefined
  /** In place of tokens. */
  readonly authenticate?: Authenticate | undefined
  readonly logger?: Logger | undefined
}

const BEARER = /^Bearer +([^\s]+)$/i
const NO_TOKEN = Buffer.alloc(32)
/** Client ids that one token may have at a time, so that its holder cannot fill the host's memory. */
const MAX_CLIENT_IDS = 4096

/** Who may connect to a host, and what each may do there. */
export class AccessGrants {
  readonly #tokens: readonly { readonly hash: Buffer; readonly grant: Grant }[] | undefined
  readonly #authenticate: Authenticate | undefined
  readonly #logger: Logger
  readonly #holders = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  constructor({ tokens, authenticate, logger = silentLogger }: AccessGrantsOptions = {}) {
    if (tokens !== undefined && authenticate !== undefined) {
      throw new GloveboxError("OPTION_INVALID", "Both tokens and authenticate were given: name one.")
    }
    const read = readOptions("the host", optionsSchema, { tokens, authenticate })
    this.#tokens = read.tokens?.map((entry) => ({ hash: hashOf(entry), grant: new Grant(entry) }))
    this.#authenticate = authenticate
    this.#logger = logger
  }

  /** Looks at the `authorization` header of a call, and binds the client id to the first token that uses it. */
  async authenticate(authorization: string | undefined, clientId: string): Promise<Admission> {
    if (this.#tokens === undefined && this.#authenticate === undefined) return { grant: Grant.everything }
    const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
    const hash = token === undefined ? NO_TOKEN : hashToken(token)
    const grant = this.#tokens === undefined ? await this.#ask(token, clientId) : this.#find(hash)
    if (grant === undefined) {
      return {
        refusal: "UNAUTHENTICATED",
        reason: token === undefined ? "The host asks for a token." : "The host does not know this token.",
      }
    }
    return this.#bind(grant, hash.toString("hex"), clientId)
  }

  /** Forgets whose a client id was, once nothing of that client is left. */
  release(clientId: string): void {
    const holder = this.#holders.get(clientId)
    if (holder === undefined) return
    this.#holders.delete(clientId)
    const left = (this.#counts.get(holder) ?? 1) - 1
    if (left === 0) this.#counts.delete(holder)
    else this.#counts.set(holder, left)
  }

  // Every token is compared, so that the time tells nothing of which was near.
  #find(hash: Buffer): Grant | undefined {
    let found: Grant | undefined
    for (const entry of this.#tokens ?? []) {
      if (timingSafeEqual(entry.hash, hash)) found = entry.grant
    }
    return found
  }

  async #ask(token: string | undefined, clientId: string): Promise<Grant | undefined> {
    try {
      const scopes = await this.#authenticate?.(token, clientId)
      return scopes === undefined
        ? undefined
        : new Grant(readOptions("what authenticate returned", grantScopesSchema, scopes))
    } catch (error) {
      this.#logger.error("authenticate failed, so the worker was refused", { error })
      return undefined
    }
  }

  #bind(grant: Grant, holder: string, clientId: string): Admission {
    if (grant.clientId !== undefined && grant.clientId !== clientId) {
      return { refusal: "PERMISSION_DENIED", reason: "This token is for another client id." }
    }
    const bound = this.#holders.get(clientId)
    if (bound !== undefined && bound !== holder) {
      return { refusal: "PERMISSION_DENIED", reason: "This client id belongs to another token." }
    }
    if (bound === undefined) {
      const count = this.#counts.get(holder) ?? 0
      if (count >= MAX_CLIENT_IDS) {
        return { refusal: "RESOURCE_EXHAUSTED", reason: "This token has too many client ids." }
      }
      this.#holders.set(clientId, holder)
      this.#counts.set(holder, count + 1)
    }
    return { grant }
  }
}

const optionsSchema = z.strictObject({
  tokens: tokensSchema.optional(),
  authenticate: z
    .custom<Authenticate>((value) => typeof value === "function", "must be a function")
    .optional(),
})
