export { type DefaultRegistryOptions, defaultRegistry } from "./default-registry.ts"
export { executorComponents } from "./executor-components.ts"
export { modelComponents } from "./model-components.ts"
