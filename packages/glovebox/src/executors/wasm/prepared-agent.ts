import type { FramedAgent } from "../sandbox/framed-agent.ts"
import type { RunEnd, RunRequest, SandboxAgent } from "../sandbox/sandbox-agent.ts"

/** The agent, with a start of interpreters ahead of the blocks that need one: a block's time is its own. */
export function preparedAgent(agent: FramedAgent): SandboxAgent {
  // Python is started before the agent says that it is ready.
  const waiting = new Set(["python3"])
  const runPlainly = agent.run.bind(agent)
  const run = async (request: RunRequest): Promise<RunEnd> => {
    const program = request.argv[0] ?? ""
    waiting.delete(program)
    const end = await runPlainly(request)
    if (end.kernel?.alive) waiting.add(program)
    return end
  }
  const prepare = async ([program = ""]: readonly string[]): Promise<void> => {
    if (!waiting.has(program)) await run({ argv: [program], how: "kernel", onOutput: () => {} })
  }
  return Object.assign(agent, { run, prepare })
}
