/** The name of the instrumentation, as backends show it. */
export const SCOPE = "glovebox"

/** Attributes of the conventions that are written in more than one place. */
export const AGENT_NAME = "gen_ai.agent.name"
export const ERROR_TYPE = "error.type"
export const OPERATION_NAME = "gen_ai.operation.name"
export const PROVIDER_NAME = "gen_ai.provider.name"
export const REQUEST_MODEL = "gen_ai.request.model"
export const TOOL_NAME = "gen_ai.tool.name"
export const TOOL_TYPE = "gen_ai.tool.type"

/** And ours, for what has no convention. */
export const EXECUTOR = "glovebox.executor"
export const POLICY_SHA256 = "glovebox.policy.sha256"
export const TERMINATION = "glovebox.code.termination"
export const APPROVAL_KIND = "glovebox.approval.kind"
export const APPROVAL_DECISION = "glovebox.approval.decision"
export const EGRESS_VERDICT = "glovebox.egress.verdict"
