import type { RuntimeSubject } from "./runtime-subject.ts"
import { defineRuntimeAgents } from "./runtimes/agents.ts"
import { defineRuntimeCancellations } from "./runtimes/cancellations.ts"
import { defineRuntimeCircles } from "./runtimes/circles.ts"
import { defineRuntimeEnds } from "./runtimes/ends.ts"
import { defineRuntimeFailures } from "./runtimes/failures.ts"
import { defineRuntimeIdleness } from "./runtimes/idleness.ts"
import { defineRuntimeInterventions } from "./runtimes/interventions.ts"
import { defineRuntimeMailboxes } from "./runtimes/mailboxes.ts"
import { defineRuntimeMessages } from "./runtimes/messages.ts"
import { defineRuntimePublications } from "./runtimes/publications.ts"
import { runtimeSuite } from "./runtimes/runtime-suite.ts"
import { defineRuntimeSends } from "./runtimes/sends.ts"
import { defineRuntimeStates } from "./runtimes/states.ts"
import { defineRuntimeSubscriptions } from "./runtimes/subscriptions.ts"
import { defineRuntimeTraces } from "./runtimes/traces.ts"
import type { TestRunner } from "./test-runner.ts"

const PARTS = {
  sends: defineRuntimeSends,
  messages: defineRuntimeMessages,
  failures: defineRuntimeFailures,
  agents: defineRuntimeAgents,
  publications: defineRuntimePublications,
  subscriptions: defineRuntimeSubscriptions,
  mailboxes: defineRuntimeMailboxes,
  circles: defineRuntimeCircles,
  cancellations: defineRuntimeCancellations,
  interventions: defineRuntimeInterventions,
  states: defineRuntimeStates,
  idleness: defineRuntimeIdleness,
  ends: defineRuntimeEnds,
  traces: defineRuntimeTraces,
}

/**
 * Defines the tests of what every runtime does, for any test runner. Messages of the tests can cross a wire, and no test
 * asks for more than the wire keeps: of an error its code and its text.
 *
 * @example
 * runtimeConformance({ describe, it, after: afterAll }, {
 *   name: "mine",
 *   create: (options) => {
 *     const home = new MyRuntime(options)
 *     return { home, [Symbol.asyncDispose]: () => home.close() }
 *   },
 * })
 */
export function runtimeConformance(runner: TestRunner, subject: RuntimeSubject): void {
  const suite = runtimeSuite(runner, subject)
  runner.describe(`a runtime: ${subject.name}`, () => {
    for (const [part, define] of Object.entries(PARTS)) runner.describe(part, () => define(suite))
  })
}
