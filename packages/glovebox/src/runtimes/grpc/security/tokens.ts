import { createHash } from "node:crypto"
import { z } from "zod"
import { type GrantScopes, grantScopesSchema } from "./grant.ts"

// What can follow "Bearer " in a header.
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/

/** A bearer token, as a worker presents it. */
export const tokenSchema = z
  .string()
  .max(4096, "is longer than 4096 characters")
  .regex(TOKEN, "is no bearer token: use letters, digits, and - . _ ~ + / only")

/** The SHA-256 of a token. */
export const tokenHashSchema = z
  .string()
  .regex(/^[0-9a-fA-F]{64}$/, "is not the SHA-256 of a token, as 64 hexadecimal digits")

const tokenGrantSchema = z
  .strictObject({
    ...grantScopesSchema.shape,
    token: tokenSchema.optional(),
    tokenHash: tokenHashSchema.optional(),
  })
  .refine(
    ({ token, tokenHash }) => (token === undefined) !== (tokenHash === undefined),
    "needs either token or tokenHash",
  )

/** The option `tokens` of a host. */
export const tokensSchema = z
  .array(tokenGrantSchema)
  .min(1, "is empty: leave it out for a host that asks for no token")
  .refine(
    (grants) => new Set(grants.map((grant) => hashOf(grant).toString("hex"))).size === grants.length,
    "has one token twice",
  )

/** A token, or its SHA-256 in hex, so that the host's file has no secret in it; and what its holder may do. */
export type TokenGrant = GrantScopes &
  (
    | { readonly token: string; readonly tokenHash?: undefined }
    | { readonly tokenHash: string; readonly token?: undefined }
  )

export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest()
}

/** What is kept of a token in the host. */
export function hashOf({
  token,
  tokenHash = "",
}: {
  readonly token?: string | undefined
  readonly tokenHash?: string | undefined
}): Buffer {
  return token === undefined ? Buffer.from(tokenHash, "hex") : hashToken(token)
}
