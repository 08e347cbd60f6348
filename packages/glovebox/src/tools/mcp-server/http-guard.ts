import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"

export interface Refusal {
  readonly status: number
  readonly message: string
}

/**
 * Why a request is not answered; undefined when it is. The address is checked first: a web page in the user's browser
 * can reach a local port, by its own name for this machine, and only the headers tell.
 */
export function refuseRequest(
  headers: IncomingHttpHeaders,
  port: number,
  token: string,
): Refusal | undefined {
  const names = ["127.0.0.1", "localhost"].map((host) => `${host}:${port}`)
  if (!names.includes(headers.host?.toLowerCase() ?? "")) {
    return { status: 403, message: "This server answers under its local address only." }
  }
  const { origin } = headers
  if (origin !== undefined && !names.some((name) => origin.toLowerCase() === `http://${name}`)) {
    return { status: 403, message: "This server does not answer web pages." }
  }
  const given = /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1]
  if (given === undefined || !isSame(given, token)) {
    return {
      status: 401,
      message: "Send the header authorization: Bearer <token>, with the token of this server.",
    }
  }
  return undefined
}

// By digests, which have one length: the time tells nothing of the token.
function isSame(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token))
}

function digest(value: string): Buffer {
  return createHash("sha256").update(value).digest()
}
