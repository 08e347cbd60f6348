import { GloveboxError } from "../../../core/index.ts"
import { isLoopbackAddress } from "./is-loopback-address.ts"

/** Beyond this machine anybody on the way could read and change messages, and take tokens. */
export function refusePlaintext(
  address: string,
  { tls, allowPlaintext = false }: { readonly tls?: unknown; readonly allowPlaintext?: boolean | undefined },
): void {
  if (tls !== undefined || allowPlaintext || isLoopbackAddress(address)) return
  throw new GloveboxError(
    "OPTION_INVALID",
    `${address} is not an address of this machine alone, and messages would go there unencrypted. Give tls, or, on a network that you trust, allowPlaintext: true.`,
  )
}
