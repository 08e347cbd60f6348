import { createSecureContext } from "node:tls"
import { ServerCredentials } from "@grpc/grpc-js"
import { GloveboxError } from "../../../core/index.ts"
import { errorMessage } from "../../../internal/error-message.ts"
import { readPem } from "./read-pem.ts"
import { refusePlaintext } from "./refuse-plaintext.ts"
import type { HostTls } from "./tls-options.ts"

export interface ServerSecurityOptions {
  readonly tls?: HostTls | undefined
  readonly allowPlaintext?: boolean | undefined
}

/** The credentials by which a host listens at an address. */
export async function serverCredentials(
  { tls, allowPlaintext }: ServerSecurityOptions,
  address: string,
): Promise<ServerCredentials> {
  refusePlaintext(address, { tls, allowPlaintext })
  if (tls === undefined) return ServerCredentials.createInsecure()
  const [cert, key, clientCa] = await Promise.all([
    readPem("tls.cert", tls.cert),
    readPem("tls.key", tls.key),
    tls.clientCa === undefined ? null : readPem("tls.clientCa", tls.clientCa),
  ])
  checkPair(cert, key, clientCa)
  return ServerCredentials.createSsl(clientCa, [{ cert_chain: cert, private_key: key }], clientCa !== null)
}

/** A wrong pair would else be found by the first that connects. */
export function checkPair(cert: Buffer, key: Buffer, ca: Buffer | null): void {
  try {
    createSecureContext({ cert, key, ...(ca && { ca }) })
  } catch (cause) {
    throw new GloveboxError(
      "OPTION_INVALID",
      `tls: the certificate and the key do not go together, or are not valid: ${errorMessage(cause)}`,
      { cause },
    )
  }
}
