export { type CodeExecutionToolOptions, codeExecutionTool } from "./code-execution-tool.ts"
export { describeCodeResult } from "./describe-code-result.ts"
