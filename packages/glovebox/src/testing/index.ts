export { executorAttacks } from "./executor-attacks.ts"
export { executorConformance } from "./executor-conformance.ts"
export type { ExecutorFeatures, ExecutorSubject, SubjectOptions } from "./executor-subject.ts"
export type { TestRunner } from "./test-runner.ts"
