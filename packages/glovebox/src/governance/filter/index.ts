export { DEFAULT_FILTER_RULES } from "./default-rules.ts"
export type { FilterAction, FilterRule, Finding, FindingKind } from "./filter-rule.ts"
export {
  type FilteredText,
  type FindingPlace,
  MessageFilter,
  type MessageFilterOptions,
} from "./message-filter.ts"
export { type UntrustedOptions, markUntrusted, untrustedNotice } from "./untrusted.ts"
