/** Every way Glovebox fails. Each code has a line in `docs/errors.md`. */
export const ERROR_CODES = [
  "AGENT_ALREADY_BOUND",
  "AGENT_ALREADY_REGISTERED",
  "AGENT_CLOSE_FAILED",
  "AGENT_CREATION_FAILED",
  "AGENT_FAILED",
  "AGENT_ID_INVALID",
  "AGENT_INVALID",
  "AGENT_TYPE_UNKNOWN",
  "AGENT_UNBOUND",
  "AGENT_UNKNOWN",
  "CODE_BLOCK_INVALID",
  "CODE_FILE_REFUSED",
  "COMPONENT_ALREADY_REGISTERED",
  "COMPONENT_INVALID",
  "COMPONENT_UNKNOWN",
  "COMPONENT_VERSION_UNSUPPORTED",
  "CONDITION_TERMINATED",
  "CONFIG_INVALID",
  "CONTAINER_NAME_TAKEN",
  "CONTEXT_OVERFLOW",
  "ENGINE_FAILED",
  "ENGINE_UNAVAILABLE",
  "EXECUTOR_STOPPED",
  "FUNCTION_INVALID",
  "GRAPH_INVALID",
  "HOST_EXECUTION_REFUSED",
  "IMAGE_INVALID",
  "IMAGE_UNAVAILABLE",
  "INPUT_ENDED",
  "INTERVENTION_INVALID",
  "LANGUAGE_UNAVAILABLE",
  "LANGUAGE_UNKNOWN",
  "MAILBOX_FULL",
  "MCP_SERVER_FAILED",
  "MESSAGE_DROPPED",
  "MESSAGE_INVALID",
  "MESSAGE_REJECTED",
  "MESSAGE_UNHANDLED",
  "MODEL_CLIENT_CLOSED",
  "MODEL_ENDPOINT_INVALID",
  "MODEL_KEY_MISSING",
  "MODEL_KEY_REFUSED",
  "MODEL_RATE_LIMITED",
  "MODEL_REQUEST_INVALID",
  "MODEL_RESPONSE_INVALID",
  "MODEL_TIMEOUT",
  "MODEL_UNAVAILABLE",
  "MODEL_UNKNOWN",
  "OPTION_INVALID",
  "OUTPUT_INVALID",
  "PACKAGES_FAILED",
  "PACKAGE_MISSING",
  "POLICY_INVALID",
  "POLICY_MOUNT_REFUSED",
  "REPLAY_EXHAUSTED",
  "REPLY_INVALID",
  "RUNTIME_BUSY",
  "RUNTIME_STATE",
  "RUNTIME_STOPPED",
  "RUN_ACTIVE",
  "RUN_LEFT",
  "SANDBOX_BROKEN",
  "SANDBOX_FORBIDDEN",
  "SANDBOX_LOST",
  "SANDBOX_NOT_AS_PROMISED",
  "SANDBOX_SETUP_FAILED",
  "SANDBOX_UNAVAILABLE",
  "SANDBOX_UNENFORCEABLE",
  "SEND_TIMEOUT",
  "SERIALIZATION_FAILED",
  "SERIALIZER_ALREADY_REGISTERED",
  "SERIALIZER_UNKNOWN",
  "SPEAKER_INVALID",
  "STATE_INVALID",
  "SUBSCRIPTION_ALREADY_EXISTS",
  "SUBSCRIPTION_INVALID",
  "SUBSCRIPTION_UNKNOWN",
  "TASK_INVALID",
  "TEAM_INVALID",
  "TOOL_APPROVAL_REQUIRED",
  "TOOL_DEFINITION_CHANGED",
  "TOOL_FAILED",
  "TOOL_INVALID",
  "TOPIC_ID_INVALID",
  "TURN_TIMEOUT",
  "VIRTUAL_ENV_FAILED",
  "WORKSPACE_FAILED",
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/** The one error class: branch on `code`, read `message` for what was seen and what to do. */
export class GloveboxError extends Error {
  override readonly name: string = "GloveboxError"
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** True for a Glovebox error with this code, also one from another copy of the package. */
  static is(error: unknown, code?: ErrorCode): error is GloveboxError {
    if (!(error instanceof Error) || error.name !== "GloveboxError" || !("code" in error)) return false
    return code === undefined || error.code === code
  }
}
