import type { ServerOptions } from "@grpc/grpc-js"
import type { HostSettings } from "./host-options.ts"

const MIN_KEEPALIVE_MS = 1000

/** gRPC's own settings; its keepalive finds workers that are frozen and have no heartbeat of ours. */
export function serverOptions({ maxMessageBytes, heartbeatMs, graceMs }: HostSettings): ServerOptions {
  return {
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": -1,
    "grpc.keepalive_time_ms": Math.max(MIN_KEEPALIVE_MS, heartbeatMs),
    "grpc.keepalive_timeout_ms": Math.max(MIN_KEEPALIVE_MS, graceMs),
    "grpc.enable_channelz": 0,
  }
}
