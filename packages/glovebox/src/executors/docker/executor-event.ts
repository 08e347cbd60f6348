import type { PullProgress } from "./follow-pull.ts"

/** What happens around the runs, for logs and audits. */
export type DockerExecutorEvent =
  | { readonly type: "pull"; readonly progress: PullProgress }
  | { readonly type: "runtime-chosen"; readonly runtime: string; readonly because: string | undefined }
  | {
      readonly type: "container-started"
      readonly containerId: string
      readonly imageDigest: string
      readonly runtime: string
      readonly policySha256: string
    }
  | { readonly type: "container-removed"; readonly containerId: string }
  | { readonly type: "orphan-removed"; readonly containerId: string; readonly reason: string }
