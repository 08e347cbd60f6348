import type { MethodDefinition } from "@grpc/grpc-js"

const asIs = (bytes: Buffer): Buffer => bytes

/** A stream of bytes each way, which nobody looks into. */
export const ECHO_METHOD: MethodDefinition<Buffer, Buffer> = {
  path: "/bench.Echo/Echo",
  requestStream: true,
  responseStream: true,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
}
