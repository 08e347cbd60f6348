export type {
  EgressConnection,
  EgressDenial,
  EgressDenialCode,
  EgressEnd,
  EgressEvent,
  EgressRecords,
  EgressVia,
  SecretUse,
} from "./egress-event.ts"
export { EgressGate } from "./egress-gate.ts"
export { type GateSecret, LEAST_SECRET_LENGTH, makePlaceholder } from "./gate-secrets.ts"
export type { EgressLookup } from "./host-lookups.ts"
