export type {
  EgressConnection,
  EgressDenial,
  EgressDenialCode,
  EgressEnd,
  EgressEvent,
  EgressRecords,
  EgressVia,
} from "./egress-event.ts"
export { EgressGate } from "./egress-gate.ts"
export type { EgressLookup } from "./host-lookups.ts"
