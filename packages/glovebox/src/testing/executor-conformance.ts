import { defineAborts } from "./conformance/aborts.ts"
import { defineCodeFiles } from "./conformance/code-files.ts"
import { defineConcurrency } from "./conformance/concurrency.ts"
import { defineFiles } from "./conformance/files.ts"
import { defineLanguages } from "./conformance/languages.ts"
import { defineLifecycle } from "./conformance/lifecycle.ts"
import { defineOutput } from "./conformance/output.ts"
import { defineResults } from "./conformance/results.ts"
import { defineStreams } from "./conformance/streams.ts"
import { defineTimeouts } from "./conformance/timeouts.ts"
import type { ExecutorSubject } from "./executor-subject.ts"
import { defineSuite } from "./suite.ts"
import type { TestRunner } from "./test-runner.ts"

const PARTS = {
  results: defineResults,
  languages: defineLanguages,
  "code files": defineCodeFiles,
  files: defineFiles,
  output: defineOutput,
  streams: defineStreams,
  timeouts: defineTimeouts,
  aborts: defineAborts,
  lifecycle: defineLifecycle,
  concurrency: defineConcurrency,
}

/** A part of the suite. */
export type ConformancePart = keyof typeof PARTS

/**
 * Defines the tests of what every CodeExecutor does, for any test runner; `only` names parts, for a second way of the
 * same executor in which the others cannot differ.
 *
 * @example
 * executorConformance({ describe, it, after: afterAll }, { name: "mine", create, languages: ["python"], features })
 */
export function executorConformance(
  runner: TestRunner,
  subject: ExecutorSubject,
  only: readonly ConformancePart[] = Object.keys(PARTS) as ConformancePart[],
): void {
  const parts = Object.fromEntries(only.map((part) => [part, PARTS[part]]))
  defineSuite(runner, subject, "a code executor", parts)
}
