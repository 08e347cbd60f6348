export { type CheckMountsOptions, checkMounts } from "./check-mounts.ts"
export { loadPolicy, parsePolicy } from "./load-policy.ts"
export {
  type EgressTarget,
  describeTarget,
  isTarget,
  readAuthority,
  readEgressTarget,
} from "./egress-rule.ts"
export { type Host, readHost } from "./host-name.ts"
export { secretsWithin } from "./check-secrets.ts"
export {
  type SecretFields,
  type SecretHost,
  type SecretsFields,
  readSecretHost,
  secretVariable,
} from "./secret-schema.ts"
export { describeRule } from "./network-diff.ts"
export {
  type AllowList,
  type AllowListInput,
  type EgressRuleFields,
  type NetworkFields,
  allowListOf,
} from "./network-schema.ts"
export type { PolicyChange } from "./policy-change.ts"
export { type PolicyFields, type PolicyInput, TIERS, type Tier } from "./policy-schema.ts"
export { checkTier } from "./check-tier.ts"
export { SandboxPolicy } from "./sandbox-policy.ts"
export { formatBytes, formatDuration, parseBytes, parseDuration } from "./units.ts"
