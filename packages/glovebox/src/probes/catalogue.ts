import { CONTAINER_PROBES } from "./container-probes.ts"
import { egressProbes } from "./egress-probes.ts"
import { FILESYSTEM_PROBES, mountProbes } from "./filesystem-probes.ts"
import { KERNEL_PROBES, capabilityProbes } from "./kernel-probes.ts"
import { LIFECYCLE_PROBES } from "./lifecycle-probes.ts"
import { NETWORK_PROBES } from "./network-probes.ts"
import { FAMILIES, type Probe, type ProbeContext } from "./probe.ts"
import { RESOURCE_PROBES } from "./resource-probes.ts"
import { RESULT_PROBES } from "./result-probes.ts"
import { SECRET_PROBES } from "./secret-probes.ts"
import { SOCKET_PROBES } from "./socket-probes.ts"
import { WASM_PROBES } from "./wasm-probes.ts"

/** Every probe that does not depend on what a policy lists. */
export const PROBES: readonly Probe[] = [
  ...FILESYSTEM_PROBES,
  ...KERNEL_PROBES,
  ...NETWORK_PROBES,
  ...SOCKET_PROBES,
  ...RESOURCE_PROBES,
  ...LIFECYCLE_PROBES,
  ...SECRET_PROBES,
  ...RESULT_PROBES,
  ...CONTAINER_PROBES,
  ...WASM_PROBES,
]

/** The probes of a sandbox: those of its kind of which the policy promises something, and one or more for each mount, capability and rule. */
export function probesFor(context: ProbeContext): Probe[] {
  const all = [...PROBES, ...mountProbes(context), ...capabilityProbes(context), ...egressProbes(context)]
  return all
    .filter(({ tiers, expects }) => tiers.includes(context.facts.tier) && expects(context) !== undefined)
    .toSorted((one, other) => FAMILIES.indexOf(one.family) - FAMILIES.indexOf(other.family))
}
