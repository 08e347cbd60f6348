import type {
  ChatCompletionClient,
  FinishReason,
  FunctionCall,
  ModelInfo,
  RequestUsage,
} from "../models/index.ts"

/** What the server, or whatever stands behind the client, does with a request. */
export type ScriptedAnswer =
  | {
      readonly type: "answer"
      /** Pieces of text, as a stream would bring them. */
      readonly pieces?: readonly string[]
      readonly thought?: string
      readonly calls?: readonly FunctionCall[]
      readonly finish?: Exclude<FinishReason, "function_calls" | "unknown">
      readonly usage?: RequestUsage
    }
  /** An error status, with a message in the provider's format. */
  | {
      readonly type: "status"
      readonly status: number
      readonly message?: string
      readonly headers?: Readonly<Record<string, string>>
    }
  /** A page of another kind of server, with this status. */
  | { readonly type: "foreign"; readonly status: number }
  /** Begins with a piece of text, and after it: nothing more, a lost connection, an early end, or what is no JSON. */
  | {
      readonly type: "broken"
      readonly piece?: string
      readonly after: "silence" | "lost" | "end" | "garbage"
    }
  /** Nothing at all is sent. */
  | { readonly type: "silence" }

/** A request as it arrived. */
export interface SeenRequest {
  /** The text of its body. */
  readonly body: string
  /** Settles when its connection is closed, or its answer is over. */
  readonly over: Promise<"answered" | "closed">
}

export interface StageClientOptions {
  readonly modelInfo?: Partial<ModelInfo> | undefined
  readonly maxRetries?: number | undefined
  readonly retryDelayMs?: number | undefined
  readonly timeoutMs?: number | undefined
  readonly idleTimeoutMs?: number | undefined
}

/** A server for one test, and clients that talk to it. */
export interface ModelStage extends AsyncDisposable {
  /** What is answered to the next requests, in order. */
  script(...answers: readonly ScriptedAnswer[]): void
  /** Answers arrive byte by byte, at clients that are made from now on. */
  splitBytes(): void
  client(options?: StageClientOptions): ChatCompletionClient
  /** Requests that arrived. */
  readonly requests: readonly SeenRequest[]
  /** The next request that arrives, or the first that nobody has waited for. */
  nextRequest(): Promise<SeenRequest>
  /** Closes the server, so that connections are refused. */
  shut(): Promise<void>
}

/** What a client can do; a test of what it cannot is left out. */
export interface ModelClientFeatures {
  /** It talks to a server over HTTP, so that there are statuses, connections and deadlines. */
  readonly http: boolean
  /** It passes on what the model thought. */
  readonly thoughts: boolean
  /** Its provider has a JSON mode. */
  readonly jsonMode: boolean
  /** Its results can say that a filter cut the answer. */
  readonly contentFilter: boolean
}

/** A model client under test. */
export interface ModelClientSubject {
  readonly name: string
  /** The key that its clients are given, which must appear nowhere. */
  readonly apiKey: string
  readonly features: ModelClientFeatures
  open(): Promise<ModelStage>
}
