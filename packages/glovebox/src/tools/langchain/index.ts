export { type LangChainToolsOptions, langChainTools } from "./lang-chain-tools.ts"
