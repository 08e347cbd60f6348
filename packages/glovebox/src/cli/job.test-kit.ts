import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ModelServer } from "../models/model-server.test-kit.ts"
import { openAIWire } from "../models/openai/openai-wire.test-kit.ts"
import { TEST_KEY } from "../models/server-subject.test-kit.ts"
import type { ScriptedAnswer } from "../testing/model-client-subject.ts"
import { NO_ENGINE } from "./glovebox.test-kit.ts"

/** As on a machine without keys, models and engines. */
export const NOTHING: NodeJS.ProcessEnv = {
  ...NO_ENGINE,
  OPENAI_API_KEY: "",
  OPENAI_BASE_URL: "",
  ANTHROPIC_API_KEY: "",
  ANTHROPIC_BASE_URL: "",
  // Nothing listens on port 1.
  OLLAMA_HOST: "127.0.0.1:1",
}

/** A folder of its own, and a model in this process that says what a test tells it to. */
export class JobBench implements AsyncDisposable {
  readonly server: ModelServer
  readonly folder: string
  readonly env: NodeJS.ProcessEnv

  private constructor(server: ModelServer, url: string, folder: string) {
    this.server = server
    this.folder = folder
    this.env = { ...NOTHING, HOME: folder, OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: TEST_KEY }
  }

  static async open(...answers: readonly ScriptedAnswer[]): Promise<JobBench> {
    const server = new ModelServer(openAIWire)
    const url = await server.start()
    server.script(...answers)
    return new JobBench(server, url, await mkdtemp(join(tmpdir(), "glovebox-job-test-")))
  }

  async write(name: string, text: string): Promise<string> {
    const path = join(this.folder, name)
    await mkdir(join(path, ".."), { recursive: true })
    await writeFile(path, text)
    return path
  }

  /** What the model was told, and by whom, in its last request. */
  lastMessages(): readonly { readonly role: string; readonly content: unknown }[] {
    return (this.server.lastBody()["messages"] ?? []) as readonly { role: string; content: unknown }[]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.shut()
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** An answer in words. */
export function says(...pieces: readonly string[]): ScriptedAnswer {
  return { type: "answer", pieces }
}

/** An answer that has code run. */
export function runs(code: string): ScriptedAnswer {
  return {
    type: "answer",
    calls: [{ id: "call_1", name: "execute_code", arguments: JSON.stringify({ language: "python", code }) }],
  }
}
