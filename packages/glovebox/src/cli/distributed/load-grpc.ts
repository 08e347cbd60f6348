import type * as grpc from "../../runtimes/grpc/index.ts"
import { loadPackage } from "../../core/load-package.ts"

type Grpc = typeof grpc

/** The distributed runtime, whose packages not everyone has. */
export async function loadGrpc(feature: string): Promise<Grpc> {
  // The command says by itself what is wrong, in one line; gRPC would print another before it.
  process.env["GRPC_NODE_VERBOSITY"] ??= process.env["GRPC_VERBOSITY"] ?? "NONE"
  return loadPackage("@grpc/grpc-js protobufjs", feature, async () => import("../../runtimes/grpc/index.ts"))
}
