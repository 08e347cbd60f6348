import { afterAll, describe, it } from "vitest"
import { runtimeConformance } from "../testing/runtime-conformance.ts"
import { SingleThreadedAgentRuntime } from "./index.ts"

runtimeConformance(
  { describe, it, after: afterAll },
  {
    name: "SingleThreadedAgentRuntime",
    create: (options) => {
      const home = new SingleThreadedAgentRuntime(options)
      // A test of what a close says has heard it.
      return { home, [Symbol.asyncDispose]: async () => home.close().catch(() => {}) }
    },
  },
)
