export type { ApprovalDecision, ApprovalRequest, Approve, ToolRisk } from "./approval.ts"
export type { CallGuard, CallToMake } from "./call-guard.ts"
export { toolPart, workbenchPart } from "./component-parts.ts"
export { toolComponents } from "./components.ts"
export { type ExecutedCall, executeFunctionCall } from "./execute-function-call.ts"
export type { JsonSchema } from "./json-schema-check.ts"
export { StaticWorkbench, type StaticWorkbenchOptions, staticWorkbench } from "./static-workbench.ts"
export type { RunToolOptions } from "./stream-tool.ts"
export { type Tool, tool } from "./tool.ts"
export { functionToolComponent, toolComponent } from "./tool-component.ts"
export type { ToolGovernor } from "./tool-governor.ts"
export type { ErrorChoice, ToolContext, ToolOptions, ToolState } from "./tool-definition.ts"
export type { ToolOverrides } from "./tool-overrides.ts"
export type { ToolArguments, ToolParameters } from "./tool-parameters.ts"
export {
  type ImageResultContent,
  type ResultContent,
  type TextResultContent,
  type ToolChunk,
  type ToolResult,
  type ToolResultTextOptions,
  type ToolStreamItem,
  imageContent,
  textContent,
  toolResultText,
} from "./tool-result.ts"
export type { CallToolOptions, ToolOverride, Workbench } from "./workbench.ts"
