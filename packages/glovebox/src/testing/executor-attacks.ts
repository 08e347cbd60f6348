import { defineAgent } from "./attacks/agent.ts"
import { defineLimits } from "./attacks/limits.ts"
import { defineLinks } from "./attacks/links.ts"
import { defineNames } from "./attacks/names.ts"
import { defineProcesses } from "./attacks/processes.ts"
import { defineResidue } from "./attacks/residue.ts"
import { defineWalls } from "./attacks/walls.ts"
import type { ExecutorSubject } from "./executor-subject.ts"
import { defineSuite } from "./suite.ts"
import type { TestRunner } from "./test-runner.ts"

/**
 * Defines the attacks that an executor has to hold against, as far as its features go; they are written in Python.
 *
 * @example
 * executorAttacks({ describe, it, after: afterAll }, { name: "mine", create, languages: ["python"], features })
 */
export function executorAttacks(runner: TestRunner, subject: ExecutorSubject): void {
  // They kill all that they can reach: without a wall, that is everything on the machine that runs the tests.
  if (subject.features.processes && !subject.features.hardened) {
    throw new Error(
      `The attacks are not run on ${subject.name}: it has no wall, and they would hit this machine.`,
    )
  }
  defineSuite(runner, subject, "attacks", {
    links: defineLinks,
    ...(subject.features.processes ? { processes: defineProcesses } : {}),
    limits: defineLimits,
    agent: defineAgent,
    names: defineNames,
    ...(subject.features.session || !subject.features.processes ? {} : { residue: defineResidue }),
    walls: defineWalls,
  })
}
