/** The part of a test runner that the suites need; vitest and node:test both have it. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, body: () => Promise<void>) => unknown
  /** Runs once, after the tests of the enclosing `describe`: `afterAll` of vitest, `after` of node:test. */
  readonly after: (body: () => Promise<void>) => unknown
}
