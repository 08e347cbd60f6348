export { type HttpToolOptions, httpTool } from "./http-tool.ts"
