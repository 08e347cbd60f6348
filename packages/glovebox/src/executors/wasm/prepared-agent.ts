import type { FramedAgent } from "../sandbox/framed-agent.ts"
import type { RunEnd, RunRequest, SandboxAgent } from "../sandbox/sandbox-agent.ts"

/**
 * The agent, with a start of interpreters ahead of the blocks that need one: a block's time is its own. In a session it
 * tells when an interpreter was ended, and the variables of its calls with it.
 */
export function preparedAgent(agent: FramedAgent, isolation: "run" | "session"): SandboxAgent {
  // Python is started before the agent says that it is ready.
  const waiting = new Set(["python3"])
  let loss: string | undefined
  const runPlainly = agent.run.bind(agent)
  const run = async (request: RunRequest): Promise<RunEnd> => {
    const program = request.argv[0] ?? ""
    waiting.delete(program)
    const end = await runPlainly(request)
    if (end.kernel?.alive) waiting.add(program)
    else if (request.how !== "kernel") {
      loss = `The interpreter ${program} was ended with its program, and the variables of earlier calls with it.`
    }
    return end
  }
  const prepare = async ([program = ""]: readonly string[]): Promise<void> => {
    if (!waiting.has(program)) await run({ argv: [program], how: "kernel", onOutput: () => {} })
  }
  const takeLoss = (): string | undefined => {
    const told = loss
    loss = undefined
    return told
  }
  return Object.assign(agent, { run, prepare, ...(isolation === "session" ? { takeLoss } : {}) })
}
