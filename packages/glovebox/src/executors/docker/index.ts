export { DockerCommandLineCodeExecutor } from "./docker-command-line-code-executor.ts"
export type { DockerCommandLineCodeExecutorOptions, PullPolicy } from "./docker-options.ts"
export type { DeviceRequest } from "./container-spec.ts"
export type { EngineAddressOptions, EngineTls } from "./engine-address.ts"
export type { PullProgress } from "./follow-pull.ts"
export type { DockerExecutorEvent } from "./executor-event.ts"
export {
  DockerFleet,
  type DockerFleetOptions,
  type DrainOptions,
  FleetError,
  type FleetEvent,
  type FleetExecutor,
  type FleetExecutorOptions,
  type FleetHostOptions,
  type FleetHostStatus,
  type FleetQuota,
  type FleetQuotaOptions,
  type FleetStatus,
  type FleetTenantOptions,
  type FleetTenantStatus,
  type HostState,
  TryLaterError,
} from "./fleet/index.ts"
