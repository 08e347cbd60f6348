import {
  type Closure,
  ClosureAgent,
  type MessageType,
  SingleThreadedAgentRuntime,
  type SingleThreadedAgentRuntimeOptions,
  defaultSubscription,
  silentLogger,
} from "./index.ts"

/** A started runtime whose agents of type "a" handle one type of message, sent or on the default topic. */
export async function runtimeWith<Type extends MessageType>(
  type: Type,
  handler: Closure<readonly [Type]>,
  options: SingleThreadedAgentRuntimeOptions = {},
): Promise<SingleThreadedAgentRuntime> {
  const runtime = new SingleThreadedAgentRuntime({ logger: silentLogger, ...options })
  await runtime.register("a", () => new ClosureAgent([type], handler), {
    subscriptions: [defaultSubscription()],
  })
  runtime.start()
  return runtime
}
