import type { AllowedHosts } from "./allowed-hosts.ts"
import type { HttpRequest, HttpResponse } from "./send-request.ts"

/** What to send when a server points elsewhere; throws when that is not to be followed. */
export function redirectedRequest(
  { url, method, headers, body }: HttpRequest,
  response: HttpResponse,
  hosts: AllowedHosts,
): HttpRequest {
  const target = readAddress(response.location ?? "", url)
  if (!target) throw new Error("it redirects to what is no address")
  const fault = hosts.fault(target)
  if (fault !== undefined) throw new Error(`it redirects, and ${fault}`)
  if (url.protocol === "https:" && target.protocol === "http:")
    throw new Error("it redirects from https to http")
  // As browsers do; a key for one host is not for another.
  const { "content-type": contentType } = headers
  const others: HttpRequest["headers"] = contentType === undefined ? {} : { "content-type": contentType }
  const kept = target.origin === url.origin ? headers : others
  const isSame = ["GET", "HEAD"].includes(method) || response.status === 307 || response.status === 308
  return isSame
    ? { url: target, method, headers: kept, body }
    : { url: target, method: "GET", headers: kept, body: undefined }
}

function readAddress(text: string, base: URL): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
