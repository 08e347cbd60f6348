export { DockerFleet, type DrainOptions } from "./docker-fleet.ts"
export { FleetError } from "./fleet-error.ts"
export type { FleetExecutor } from "./fleet-executor.ts"
export type { FleetEvent } from "./fleet-host.ts"
export type {
  DockerFleetOptions,
  FleetExecutorOptions,
  FleetHostOptions,
  FleetQuotaOptions,
  FleetTenantOptions,
} from "./fleet-options.ts"
export type { FleetHostStatus, FleetStatus, FleetTenantStatus } from "./fleet-status.ts"
export type { HostState } from "./placement.ts"
export { type FleetQuota, TryLaterError } from "./try-later-error.ts"
