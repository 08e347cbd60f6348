import type { RequestUsage } from "./create-result.ts"

/** Adds up what calls have used. */
export class UsageMeter {
  #promptTokens = 0
  #completionTokens = 0

  add({ promptTokens, completionTokens }: RequestUsage): void {
    this.#promptTokens += promptTokens
    this.#completionTokens += completionTokens
  }

  read(): RequestUsage {
    return { promptTokens: this.#promptTokens, completionTokens: this.#completionTokens }
  }
}
