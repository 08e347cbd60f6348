export {
  type CodeExecutionToolOptions,
  codeExecutionTool,
  codeExecutionToolComponent,
} from "./code-execution-tool.ts"
export { describeCodeResult } from "./describe-code-result.ts"
