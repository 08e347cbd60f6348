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
export type { EgressLookup } from "./resolve-host.ts"
