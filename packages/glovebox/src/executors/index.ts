export type { CodeBlock } from "./code-block.ts"
export type { CodeExecutor, ExecuteOptions, StreamOptions } from "./code-executor.ts"
export { codeFences } from "./code-fences.ts"
export type {
  Artifact,
  BlockResult,
  CodeResult,
  LimitHit,
  SandboxReport,
  Termination,
} from "./code-result.ts"
export type { ExecutionEvent, OutputEvent } from "./execution-event.ts"
export { describeFunctions } from "./functions/functions-module.ts"
export { type PythonFunction, pythonFunction, pythonFunctionFromFile } from "./functions/python-function.ts"
export type { PythonImport } from "./functions/python-import.ts"
export { DEFAULT_LANGUAGES, type Language, type LanguageOptions } from "./languages.ts"
