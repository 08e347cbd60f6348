import { type LookupAddress, type LookupOptions, lookup } from "node:dns"
import { type IncomingMessage, request as httpRequest } from "node:http"
import { request as httpsRequest } from "node:https"
import { canonicalAddress, specialAddress } from "../../egress/address-class.ts"

export interface HttpRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export interface HttpResponse {
  readonly status: number
  readonly statusText: string
  readonly contentType: string
  readonly location: string | undefined
  readonly body: Buffer
  /** Whether there was more than is kept. */
  readonly isCut: boolean
}

export interface SendOptions {
  readonly allowPrivate: boolean
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** Sends one request, to an address that has been looked at; redirects are for the caller to follow or not. */
export async function sendRequest(
  { url, method, headers, body }: HttpRequest,
  { allowPrivate, maxBytes, signal }: SendOptions,
): Promise<HttpResponse> {
  const name = url.hostname.replace(/^\[|\]$/g, "")
  // The name is looked up by nobody when it is an address already.
  const fault = allowPrivate || canonicalAddress(name) === undefined ? undefined : faultOf(name)
  if (fault !== undefined) throw new Error(fault)
  const send = url.protocol === "https:" ? httpsRequest : httpRequest
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = send(url, {
      method,
      headers: { "user-agent": "glovebox", accept: "*/*", ...headers, ...length },
      signal,
      agent: false,
      ...(allowPrivate ? {} : { lookup: publicLookup }),
    })
    request.once("response", resolve).once("error", reject)
    request.end(body)
  })
  return readResponse(response, maxBytes)
}

async function readResponse(response: IncomingMessage, maxBytes: number): Promise<HttpResponse> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBytes) break
  }
  return {
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? "",
    contentType: response.headers["content-type"] ?? "",
    location: response.headers.location,
    body: Buffer.concat(chunks).subarray(0, maxBytes),
    isCut: size > maxBytes,
  }
}

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void

// The connection goes to the very address that was looked at: a second answer could be another.
function publicLookup(name: string, options: LookupOptions, callback: LookupCallback): void {
  lookup(name, { ...options, all: true }, (error, found) => {
    if (error) {
      callback(error, [])
      return
    }
    const usable = found.filter(({ address }) => faultOf(address) === undefined)
    const [first] = usable
    if (!first) callback(new Error(`${name} is at ${faultOf(found[0]?.address ?? "") ?? "no address"}`), [])
    else if (options.all === true) callback(null, usable)
    else callback(null, first.address, first.family)
  })
}

function faultOf(address: string): string | undefined {
  const canonical = canonicalAddress(address)
  if (canonical === undefined) return `${address}, which is no address`
  const what = specialAddress(canonical)
  return what === undefined ? undefined : `${address}, ${what}, and only public ones are asked`
}
