export { aiSdkTools } from "./ai-sdk-tools.ts"
