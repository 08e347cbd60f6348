import type { JsonObject } from "../../core/index.ts"
import { lastOf } from "../../tools/tool.ts"
import type { ToolResult, ToolStreamItem, Workbench } from "../../tools/index.ts"

/** A call that is made elsewhere, as a workbench: what stands before and behind a call is for workbenches. */
export class OneCall implements Workbench {
  readonly #call: (name: string) => Promise<ToolResult>

  constructor(call: (name: string) => Promise<ToolResult>) {
    this.#call = call
  }

  async callTool(name: string): Promise<ToolResult> {
    return lastOf(this.callToolStream(name))
  }

  async *callToolStream(name: string): AsyncGenerator<ToolStreamItem, ToolResult, undefined> {
    const result = await this.#call(name)
    yield result
    return result
  }

  async listTools(): Promise<readonly []> {
    return []
  }

  async saveState(): Promise<JsonObject> {
    return {}
  }

  async loadState(): Promise<void> {}
  async start(): Promise<void> {}
  async stop(): Promise<void> {}
  async reset(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}
}
