export { type HttpToolOptions, autogenHttpToolComponent, httpTool, httpToolComponent } from "./http-tool.ts"
