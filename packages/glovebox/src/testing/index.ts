export { executorAttacks } from "./executor-attacks.ts"
export { type ConformancePart, executorConformance } from "./executor-conformance.ts"
export type { ExecutorFeatures, ExecutorSubject, SubjectOptions } from "./executor-subject.ts"
export { type LiveModelSubject, liveModelConformance } from "./live-model-conformance.ts"
export { modelClientConformance } from "./model-client-conformance.ts"
export type {
  ModelClientFeatures,
  ModelClientSubject,
  ModelStage,
  ScriptedAnswer,
  SeenRequest,
  StageClientOptions,
} from "./model-client-subject.ts"
export { runtimeConformance } from "./runtime-conformance.ts"
export type { RuntimePlace, RuntimeSubject, TestedRuntime, TestedRuntimeOptions } from "./runtime-subject.ts"
export type { TestRunner } from "./test-runner.ts"
