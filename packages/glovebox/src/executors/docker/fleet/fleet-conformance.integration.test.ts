import { afterAll, describe, it } from "vitest"
import { executorConformance } from "../../../testing/executor-conformance.ts"
import type { ExecutorSubject } from "../../../testing/executor-subject.ts"
import { HAS_NO_DOCKER, IMAGE, dockerSubject } from "../docker-subject.test-kit.ts"
import { DockerFleet, type FleetExecutorOptions } from "../index.ts"

/** An executor of a fleet of its own, for the suite that every executor passes. */
function fleetSubject(name: string, isolation: "run" | "session", fleets: DockerFleet[]): ExecutorSubject {
  return {
    ...dockerSubject(name, { isolation }),
    create: (given) => {
      const asked = given ?? {}
      const { timeout: wall, memory, pids, workspace, files, output, env, ...options } = asked
      const limited = Object.entries({ wall, memory, pids, workspace, files, output })
      const limits = Object.fromEntries(limited.filter(([, value]) => value !== undefined))
      // Only the executor that the tests share would use what waits.
      const tenant = { policy: { limits, env }, runtime: "runc", pool: given ? 0 : 1 }
      const fleet = new DockerFleet({
        hosts: [{ name: "a", dockerHost: "unix:///var/run/docker.sock", capacity: 16 }],
        tenants: { conformance: tenant },
        image: IMAGE,
        pull: "never",
      })
      fleets.push(fleet)
      const executor: FleetExecutorOptions = { tenant: "conformance", isolation, ...options }
      return fleet.executor(executor)
    },
  }
}

describe.skipIf(HAS_NO_DOCKER)("an executor of a fleet", () => {
  const fleets: DockerFleet[] = []
  afterAll(async () => {
    await Promise.all(fleets.map(async (fleet) => fleet.stop()))
  })

  const runner = { describe, it, after: afterAll }
  // What one container does is the Docker executor's; these are about which one it is, and who ends it.
  const ofCalls = ["files", "aborts", "lifecycle", "concurrency"] as const
  executorConformance(runner, fleetSubject("a container for each run", "run", fleets), ofCalls)
  executorConformance(runner, fleetSubject("a session", "session", fleets), ["aborts", "lifecycle"])
})
