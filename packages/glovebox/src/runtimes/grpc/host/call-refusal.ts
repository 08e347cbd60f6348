import { status } from "@grpc/grpc-js"

/** Why a call is not let in, as gRPC tells it. */
export interface CallRefusal {
  readonly code: status
  readonly details: string
}

export function refuse(code: keyof typeof status, details: string): CallRefusal {
  return { code: status[code], details }
}
