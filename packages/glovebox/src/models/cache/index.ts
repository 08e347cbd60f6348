export type { CacheStore } from "./cache-store.ts"
export { ChatCompletionCache, type ChatCompletionCacheOptions } from "./chat-completion-cache.ts"
export { DiskCacheStore } from "./disk-cache-store.ts"
export { MemoryCacheStore, type MemoryCacheStoreOptions } from "./memory-cache-store.ts"
