import type { ErrorCode } from "../../../core/glovebox-error.ts"
import { MESSAGE_METADATA } from "../wire/metadata-names.ts"
import type { RpcResponse } from "../wire/wire-message.ts"

/** The host's own answer to a request. No error object is made: it may be one of very many. */
export function failure(request_id: string, code: ErrorCode, error: string): RpcResponse {
  return { request_id, error, metadata: { [MESSAGE_METADATA.errorCode]: code } }
}
