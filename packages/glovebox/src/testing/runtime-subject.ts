import type {
  AgentRuntime,
  CallOptions,
  RuntimeEvent,
  SingleThreadedAgentRuntimeOptions,
  StopOptions,
} from "../core/index.ts"

/** A runtime as the suite uses it: what every runtime does for agents, and how it begins and ends. */
export interface TestedRuntime extends AgentRuntime {
  start(): void | Promise<void>
  whenIdle(options?: CallOptions): Promise<void>
  stop(options?: StopOptions): Promise<void>
  stopWhenIdle(options?: StopOptions): Promise<void>
  stopWhen(condition: () => boolean | Promise<boolean>, options?: StopOptions): Promise<void>
  close(): Promise<void>
  on<Type extends RuntimeEvent["type"]>(
    type: Type,
    listener: (event: Extract<RuntimeEvent, { type: Type }>) => void,
  ): Disposable
}

/** What a test asks of the runtimes it makes; all of them get it. */
export type TestedRuntimeOptions = Pick<
  SingleThreadedAgentRuntimeOptions,
  "interventions" | "ignoreUnhandledExceptions" | "logger" | "mailbox" | "sendTimeoutMs" | "tracerProvider"
>

/** Runtimes of one test, not started; disposing of it closes them, and all that was made for them. */
export interface RuntimePlace extends AsyncDisposable {
  /** Where agents are registered. */
  readonly home: TestedRuntime
  /** Whence messages are sent to them, when that is another runtime. @default home */
  readonly away?: TestedRuntime | undefined
}

/** A runtime under test. */
export interface RuntimeSubject {
  readonly name: string
  readonly create: (options: TestedRuntimeOptions) => RuntimePlace | Promise<RuntimePlace>
}
