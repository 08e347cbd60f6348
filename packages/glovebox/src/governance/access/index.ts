export type { AccessDenial } from "./describe-denial.ts"
export type { AccessRule } from "./access-rule.ts"
export { ToolAccess, type ToolAccessOptions } from "./tool-access.ts"
