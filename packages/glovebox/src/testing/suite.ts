import type { CodeExecutor } from "../executors/index.ts"
import type { ExecutorSubject } from "./executor-subject.ts"
import { type Programs, programsIn } from "./programs.ts"
import type { TestRunner } from "./test-runner.ts"

/** What each part of a suite is given. */
export interface Suite extends TestRunner {
  readonly subject: ExecutorSubject
  readonly programs: Programs
  /** Defines a test if the condition holds. */
  readonly itIf: (condition: boolean, name: string, body: () => Promise<void>) => void
  /** An executor with all defaults that the tests of a suite share. */
  readonly shared: () => CodeExecutor
}

/** Defines the parts of a suite under the subject's name, and ends the shared executor after them. */
export function defineSuite(
  runner: TestRunner,
  subject: ExecutorSubject,
  name: string,
  parts: Readonly<Record<string, (suite: Suite) => void>>,
): void {
  let executor: CodeExecutor | undefined
  const suite: Suite = {
    ...runner,
    subject,
    programs: programsIn(subject.languages),
    itIf: (condition, title, body) => {
      if (condition) runner.it(title, body)
    },
    shared: () => (executor ??= subject.create()),
  }
  runner.describe(`${name}: ${subject.name}`, () => {
    for (const [part, define] of Object.entries(parts)) runner.describe(part, () => define(suite))
    runner.after(async () => {
      await executor?.stop()
    })
  })
}
