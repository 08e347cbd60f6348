export { openAIAgentsTools } from "./open-ai-agents-tools.ts"
