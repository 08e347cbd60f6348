/** Where answers are kept: text by key. Both may wait, and may be used by many calls at once. */
export interface CacheStore {
  get(key: string): Promise<string | undefined>
  set(key: string, value: string): Promise<void>
}
