import { readFile } from "node:fs/promises"
import { errorMessage } from "../../internal/error-message.ts"
import { tokenSchema } from "../../runtimes/grpc/security/tokens.ts"
import { CommandFailure } from "../command-failure.ts"

export const TOKEN_VARIABLE = "GLOVEBOX_TOKEN"

/** The token of `--token-file`, else of the environment; undefined where there is none. Errors never show it. */
export async function readWorkerToken(
  file: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  if (file === undefined) {
    const token = env[TOKEN_VARIABLE]
    return token === undefined || token === "" ? undefined : checked(token, TOKEN_VARIABLE)
  }
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new CommandFailure(`--token-file: ${file} cannot be read: ${errorMessage(cause)}`, { cause })
  })
  return checked(text.trim(), `--token-file: ${file}`)
}

function checked(token: string, where: string): string {
  const { data, error } = tokenSchema.safeParse(token)
  if (data !== undefined) return data
  throw new CommandFailure(`${where}: ${error?.issues[0]?.message ?? "is no token"}`)
}
