import { isIP } from "node:net"
import { checkServerIdentity } from "node:tls"
import { ChannelCredentials, type ChannelOptions } from "@grpc/grpc-js"
import { hostOf, isLoopbackAddress } from "./is-loopback-address.ts"
import { readPem } from "./read-pem.ts"
import { refusePlaintext } from "./refuse-plaintext.ts"
import { checkPair } from "./server-credentials.ts"
import type { WorkerTls } from "./tls-options.ts"

export interface ChannelSecurityOptions {
  readonly tls?: WorkerTls | true | undefined
  readonly allowPlaintext?: boolean | undefined
}

/** The credentials by which a worker connects to a host. */
export async function channelCredentials(
  { tls, allowPlaintext }: ChannelSecurityOptions,
  hostAddress: string,
): Promise<ChannelCredentials> {
  refusePlaintext(hostAddress, { tls, allowPlaintext })
  if (tls === undefined) return ChannelCredentials.createInsecure()
  const { ca, cert, key } = tls === true ? {} : tls
  const [authority, chain, secret] = await Promise.all([
    ca === undefined ? null : readPem("tls.ca", ca),
    cert === undefined ? null : readPem("tls.cert", cert),
    key === undefined ? null : readPem("tls.key", key),
  ])
  if (chain && secret) checkPair(chain, secret, authority)
  const ip = ipOf(tls, hostAddress)
  return ChannelCredentials.createSsl(authority, secret, chain, {
    ...(ip !== undefined && {
      checkServerIdentity: (_name, certificate) => checkServerIdentity(ip, certificate),
    }),
  })
}

/** What a channel to the host needs beside its credentials. */
export function channelSecurityOptions({ tls }: ChannelSecurityOptions, hostAddress: string): ChannelOptions {
  const serverName = serverNameOf(tls)
  return {
    // A proxy of the environment is no place for what was to stay on this machine.
    ...(isLoopbackAddress(hostAddress) && { "grpc.enable_http_proxy": 0 }),
    ...(serverName !== undefined && {
      "grpc.ssl_target_name_override": serverName,
      "grpc.default_authority": serverName,
    }),
    // TLS cannot ask for an IP by name, which Node warns of; the certificate is compared with the IP all the same.
    ...(ipOf(tls, hostAddress) !== undefined && { "grpc.ssl_target_name_override": "glovebox-host" }),
  }
}

function serverNameOf(tls: ChannelSecurityOptions["tls"]): string | undefined {
  return typeof tls === "object" ? tls.serverName : undefined
}

/** The IP that the host's certificate must be for. */
function ipOf(tls: ChannelSecurityOptions["tls"], hostAddress: string): string | undefined {
  const host = hostOf(hostAddress)
  return tls !== undefined && serverNameOf(tls) === undefined && isIP(host) !== 0 ? host : undefined
}
