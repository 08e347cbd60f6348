import { SingleThreadedAgentRuntime } from "glovebox/core"
import { EchoAgent } from "./echo-agent.ts"

/** A running runtime with default options, whose agents of type "echo" answer. */
export async function startEchoRuntime(): Promise<SingleThreadedAgentRuntime> {
  const runtime = new SingleThreadedAgentRuntime()
  await runtime.register("echo", () => new EchoAgent())
  runtime.start()
  return runtime
}
