import type * as grpc from "../../runtimes/grpc/index.ts"
import { loadPackage } from "../../core/load-package.ts"

type Grpc = typeof grpc

/** The distributed runtime, whose packages not everyone has. */
export async function loadGrpc(feature: string): Promise<Grpc> {
  return loadPackage("@grpc/grpc-js protobufjs", feature, async () => import("../../runtimes/grpc/index.ts"))
}
