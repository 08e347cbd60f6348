/** The part of the engine's word on a network that tells of its addresses. */
interface InspectedNetwork {
  readonly IPAM?: {
    readonly Config?: readonly { readonly Gateway?: string; readonly Subnet?: string }[] | null
  }
}

/** The host's address on a bridge; undefined where there is no IPv4 there. */
export function bridgeGateway({ IPAM }: InspectedNetwork): string | undefined {
  for (const { Gateway, Subnet } of IPAM?.Config ?? []) {
    if (Gateway?.includes(".")) return Gateway
    // An engine that made its bridge just now names none until it is started again; it took the first address.
    const first = Subnet === undefined ? undefined : firstAddress(Subnet)
    if (first !== undefined) return first
  }
  return undefined
}

function firstAddress(subnet: string): string | undefined {
  const match = /^(\d+\.\d+\.\d+)\.(\d+)\/\d+$/.exec(subnet)
  return match ? `${match[1]}.${Number(match[2]) + 1}` : undefined
}
