import { posix } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { residentProgram } from "../src/executors/sandbox/agent-command.ts"
import { hasScript, preload, type Program, programs } from "./resident-programs.test-kit.ts"
import { type Outcome, Resident } from "./resident.test-kit.ts"

const perContainer = 12

/**
 * Addresses, process numbers and thread numbers differ between any two runs; and the stack of C, which a crash of 3.14
 * and later shows, has other functions below the program.
 */
function withoutChance(outcome: Outcome): Outcome {
  const clean = (text: string): string =>
    text
      .replace(/0x[0-9a-f]{8,}/g, "0x")
      .replace(/\b(pid|ident|Thread)[= ]\d{3,}/g, "$1")
      .replace(/, started \d+/g, "")
      .replace(/\(used \d+ kB\)/g, "")
      .replace(/(C stack trace .*\n)(?: {2}(?:Binary file|<truncated).*\n)+/g, "$1")
  return { ...outcome, stdout: clean(outcome.stdout), stderr: clean(outcome.stderr) }
}

async function runBoth(agent: Resident, program: Program): Promise<{ fork: Outcome; exec: Outcome }> {
  const script = program.script ?? "main.py"
  const files: Record<string, string | Buffer> = { ...program.files }
  if (hasScript(program)) files[posix.normalize(script).replace(/^\/workspace\//, "")] = program.code
  for (const [path, content] of Object.entries(files)) agent.put(path, content)
  const argv = ["python3", script, ...(program.args ?? ["argument"])]
  const fork = withoutChance(await agent.run(argv, "fork"))
  const exec = withoutChance(await agent.run(argv, "exec"))
  agent.send("U", { paths: Object.keys(files) })
  return { fork, exec }
}

let compiled: Buffer | undefined

beforeAll(async () => {
  const agent = new Resident({ share: true })
  const frame = await agent.next()
  if (frame?.type === "s") compiled = Buffer.from(frame.payload)
  await agent.stop()
})

it("an agent gives itself as it was compiled", () => {
  expect(compiled?.length).toBeGreaterThan(10_000)
})

const groups = Array.from({ length: Math.ceil(programs.length / perContainer) }, (_, at) =>
  programs.slice(at * perContainer, (at + 1) * perContainer),
)

const sets = groups.map((group, at) => ({
  name: group[0]!.name,
  group,
  from: at % 2 ? "source" : "compiled",
}))

describe.each(sets)(
  "a program cannot tell the ready interpreter from a new one (agent: $from, from $name)",
  ({ group, from }) => {
    let agent: Resident

    beforeAll(async () => {
      const program = await residentProgram(from === "compiled" ? compiled : undefined)
      agent = new Resident({ preload, program })
      await agent.ready()
    })

    afterAll(async () => {
      await agent.stop()
    })

    it.each(group)("$name", async (program) => {
      const { fork, exec } = await runBoth(agent, program)
      expect(fork).toEqual(exec)
    })
  },
)
