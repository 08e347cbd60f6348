import { randomUUID } from "node:crypto"
import type { AgentRuntime } from "../../core/index.ts"
import type { ExecutorSubject, SubjectOptions } from "../../testing/executor-subject.ts"
import type { CodeExecutor } from "../code-executor.ts"
import { RemoteCodeExecutor } from "./remote-code-executor.ts"

export interface RemoteSubject extends ExecutorSubject {
  /** Makes the executor that was asked for under a key, at the far end. */
  readonly executor: (key: string) => CodeExecutor
}

/** Another subject's executors, reached through a runtime. */
export function remoteSubject(
  name: string,
  inner: ExecutorSubject,
  runtime: () => AgentRuntime,
): RemoteSubject {
  const asked = new Map<string, SubjectOptions | undefined>()
  return {
    ...inner,
    name,
    executor: (key) => inner.create(asked.get(key)),
    create: (options) => {
      const key = randomUUID()
      asked.set(key, options)
      return new RemoteCodeExecutor({ runtime: runtime(), key })
    },
  }
}
