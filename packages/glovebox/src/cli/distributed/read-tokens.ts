import { readFile } from "node:fs/promises"
import { z } from "zod"
import { errorMessage } from "../../internal/error-message.ts"
import { parseYaml } from "../../internal/yaml-text.ts"
import { grantScopesSchema } from "../../runtimes/grpc/security/grant.ts"
import { type TokenGrant, tokenHashSchema, tokenSchema } from "../../runtimes/grpc/security/tokens.ts"
import { CommandFailure } from "../command-failure.ts"

const { clientId, ...scopes } = grantScopesSchema.shape
const EITHER = "needs either token or token_hash"

// Names are written here as in policies.
const entrySchema = z
  .strictObject({
    ...scopes,
    client_id: clientId,
    token: tokenSchema.optional(),
    token_hash: tokenHashSchema.optional(),
  })
  .transform(({ client_id, token, token_hash, ...rest }, context): TokenGrant => {
    const grant = { ...rest, clientId: client_id }
    if (token !== undefined && token_hash === undefined) return { ...grant, token }
    if (token === undefined && token_hash !== undefined) return { ...grant, tokenHash: token_hash }
    context.addIssue({ code: "custom", message: EITHER })
    return z.NEVER
  })

const fileSchema = z.strictObject({ tokens: z.array(entrySchema).min(1, "is empty") })

/** Reads the file of `--tokens`, YAML or JSON; errors name the line, and never show a token. */
export async function readTokens(file: string, signal?: AbortSignal): Promise<readonly TokenGrant[]> {
  const text = await readFile(file, { encoding: "utf8", signal }).catch((cause: unknown) => {
    signal?.throwIfAborted()
    throw new CommandFailure(`--tokens: ${file} cannot be read: ${errorMessage(cause)}`, { cause })
  })
  const read = parseYaml(text, file)
  if ("problem" in read) throw new CommandFailure(`--tokens: ${read.problem}`)
  const { data, error } = fileSchema.safeParse(read.value ?? {})
  if (data) return data.tokens
  const problems = error.issues.map(({ path, message }) => {
    const where = path.map(String).join(".")
    return `${read.at(path)}: ${where === "" ? "" : `${where}: `}${message}`
  })
  throw new CommandFailure(`--tokens: ${problems.join("\n")}`)
}
