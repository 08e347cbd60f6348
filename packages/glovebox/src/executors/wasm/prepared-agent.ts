import { GloveboxError } from "../../core/index.ts"
import type { FramedAgent } from "../sandbox/framed-agent.ts"
import type { RunEnd, RunRequest, SandboxAgent } from "../sandbox/sandbox-agent.ts"

const START_LIMIT_MS = 30_000

/**
 * The agent, with a start of interpreters ahead of the blocks that need one: a block's time is its own. In a session it
 * tells when an interpreter was ended, and the variables of its calls with it.
 */
export function preparedAgent(
  agent: FramedAgent,
  isolation: "run" | "session",
  startLimitMs = START_LIMIT_MS,
): SandboxAgent {
  // By program, the number of the interpreter that has the variables. Python's is started before the agent is ready.
  const known = new Map([["python3", 1]])
  const waiting = new Set(known.keys())
  let loss: string | undefined
  const runPlainly = agent.run.bind(agent)
  const putPlainly = agent.put.bind(agent)

  const run = async (request: RunRequest): Promise<RunEnd> => {
    const program = request.argv[0] ?? ""
    waiting.delete(program)
    const end = await runPlainly(request)
    const { number = 0, alive = false } = end.kernel ?? {}
    const before = known.get(program)
    // Another one answers when a call that was rejected had ended the one before.
    const isOther = before !== undefined && before !== number
    if (isOther || (!alive && request.how !== "kernel")) {
      loss = `The interpreter ${program} was ended with its program, and the variables of earlier calls with it.`
    }
    if (alive) {
      known.set(program, number)
      waiting.add(program)
    } else known.delete(program)
    return end
  }
  const prepare = async ([program = ""]: readonly string[]): Promise<void> => {
    if (waiting.has(program)) return
    await inTime(run({ argv: [program], how: "kernel", onOutput: () => {} }), `start ${program}`)
  }
  const put: SandboxAgent["put"] = async (files) => inTime(putPlainly(files), "take its files")
  const takeLoss = (): string | undefined => {
    const told = loss
    loss = undefined
    return told
  }

  // One that does not get on is not waited for, and is of no more use.
  const inTime = async <T>(work: Promise<T>, what: string): Promise<T> => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        const message = `The embedded sandbox did not ${what} within ${startLimitMs / 1000} s, and was ended.`
        reject(new GloveboxError("SANDBOX_LOST", message))
        // After that was heard.
        setImmediate(() => agent.close())
      }, startLimitMs)
    })
    try {
      return await Promise.race([work, late])
    } finally {
      clearTimeout(timer)
    }
  }
  return Object.assign(agent, { run, put, prepare, ...(isolation === "session" ? { takeLoss } : {}) })
}
