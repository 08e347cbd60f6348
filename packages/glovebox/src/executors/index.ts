export type {
  EgressConnection,
  EgressDenial,
  EgressDenialCode,
  EgressEnd,
  EgressEvent,
  EgressLookup,
  EgressVia,
  SecretUse,
} from "../egress/index.ts"
export type { CodeBlock } from "./code-block.ts"
export type { CodeExecutor, ExecuteOptions, StreamOptions } from "./code-executor.ts"
export { type CodeFencesOptions, codeFences } from "./code-fences.ts"
export type {
  Artifact,
  BlockResult,
  CodeResult,
  LimitHit,
  SandboxReport,
  Termination,
} from "./code-result.ts"
export { executorPart } from "./component-part.ts"
export type { DisplayEvent, ExecutionEvent, OutputEvent } from "./execution-event.ts"
export { createExecutor } from "./create-executor.ts"
export type { TriedTier } from "./factory/choose-tier.ts"
export type { ChosenExecutor, ExecutorDescription } from "./factory/chosen-executor.ts"
export type { CreateExecutorOptions, SandboxChoice } from "./factory/create-executor-options.ts"
export { describeFunctions } from "./functions/functions-module.ts"
export { type PythonFunction, pythonFunction, pythonFunctionFromFile } from "./functions/python-function.ts"
export type { PythonImport } from "./functions/python-import.ts"
export type { InputFile } from "./input-file.ts"
export type { PoolState } from "./pool-state.ts"
export type { RichContent, RichOutput } from "./rich-output.ts"
export type { KnownSecret } from "./known-secret.ts"
export type { SandboxEvent } from "./sandbox-event.ts"
export { DEFAULT_LANGUAGES, type Language, type LanguageOptions } from "./languages.ts"
