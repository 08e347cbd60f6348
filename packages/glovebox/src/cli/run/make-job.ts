import type { ChatAgent } from "../../chat/agents/chat-agent.ts"
import { AssistantAgent } from "../../chat/agents/assistant/index.ts"
import { CodeExecutorAgent } from "../../chat/agents/code-executor/index.ts"
import type { RunStream, RunOptions } from "../../chat/task/index.ts"
import { GloveboxError, type ErrorCode, type JsonObject } from "../../core/index.ts"
import type { CodeExecutor } from "../../executors/index.ts"
import type { Governance } from "../../governance/index.ts"
import type { ChatCompletionClient } from "../../models/index.ts"
import { codeExecutionTool } from "../../tools/code-execution/index.ts"
import { CODE_TOOL } from "./code-view.ts"
import { type JobPromptOptions, fencePrompt, languagesFor, toolPrompt } from "./job-prompt.ts"

export interface MakeJobOptions {
  readonly client: ChatCompletionClient
  readonly executor: CodeExecutor
  readonly prompt: JobPromptOptions
  /** How often the model may have code run for a task. */
  readonly maxTurns: number
  readonly governance: Governance
}

/** A model that works on tasks by running code. */
export interface Job {
  runStream(task: string, options: RunOptions): RunStream
  reset(): Promise<void>
  saveState(): Promise<JsonObject>
  loadState(state: JsonObject): Promise<void>
}

/** The name of the agent. */
export const ANSWERER = "assistant"

// The code can be written otherwise; anything else that fails is not the model's to mend.
const MENDABLE = new Set<ErrorCode>(["LANGUAGE_UNKNOWN", "LANGUAGE_UNAVAILABLE", "CODE_FILE_REFUSED"])

/** An agent with a tool where the model calls tools; else one whose code between fences is run. */
export function makeJob(options: MakeJobOptions): Job {
  return options.client.modelInfo.functionCalling ? toolJob(options) : fenceJob(options)
}

function toolJob({ client, executor, prompt, maxTurns, governance }: MakeJobOptions): Job {
  const languages = languagesFor(prompt.sandbox)
  const agent = new AssistantAgent({
    name: ANSWERER,
    modelClient: client,
    modelClientStream: true,
    systemMessage: toolPrompt(prompt),
    tools: [
      codeExecutionTool({
        name: CODE_TOOL,
        executor,
        languages,
        errors: (error) => (GloveboxError.is(error) && MENDABLE.has(error.code) ? "result" : "fatal"),
      }),
    ],
    maxToolRounds: maxTurns,
    // A model may ask for many runs at once.
    maxToolCalls: maxTurns,
    // At the cap the user gets the model's words, and not what programs printed.
    reflectOnToolUse: true,
    // One after the other: they share the files, and a person is asked about one at a time.
    parallelToolCalls: false,
    governance,
  })
  return asJob(agent)
}

function fenceJob({ client, executor, prompt, maxTurns, governance }: MakeJobOptions): Job {
  const agent = new CodeExecutorAgent({
    name: ANSWERER,
    codeExecutor: executor,
    modelClient: client,
    modelClientStream: true,
    systemMessage: fencePrompt(prompt),
    supportedLanguages: languagesFor(prompt.sandbox),
    maxRetriesOnError: maxTurns - 1,
    governance,
  })
  return asJob(agent)
}

function asJob(agent: ChatAgent): Job {
  return {
    runStream: (task, options) => agent.runStream(task, options),
    reset: async () => agent.onReset({ signal: new AbortController().signal }),
    saveState: async () => agent.saveState(),
    loadState: async (state) => agent.loadState(state),
  }
}
