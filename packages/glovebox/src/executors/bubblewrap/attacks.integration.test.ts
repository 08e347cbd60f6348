import { afterAll, describe, it } from "vitest"
import { executorAttacks } from "../../testing/executor-attacks.ts"
import { bubblewrapSubject } from "./bubblewrap-subject.test-kit.ts"

describe("the bubblewrap executor", () => {
  const runner = { describe, it, after: afterAll }
  executorAttacks(runner, bubblewrapSubject("a sandbox for each run"))
  executorAttacks(runner, bubblewrapSubject("a session", { isolation: "session" }))
  // Without a cgroup the kernel tells nobody that a limit was met, so those attacks are in the hardening tests.
  executorAttacks(
    runner,
    bubblewrapSubject("limits without cgroups", { cgroup: false }, { limits: ["workspace", "files"] }),
  )
})
