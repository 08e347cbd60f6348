import { Command } from "commander"
import { findOrphans } from "../executors/docker/sweep-orphans.ts"
import type { Engine } from "../executors/docker/engine.ts"
import { errorMessage } from "../internal/error-message.ts"
import { SandboxPolicy } from "../policy/index.ts"
import { checkEngine, howFound } from "./check-engine.ts"
import { checkSandbox } from "./check-sandbox.ts"
import type { CommandOutput } from "./command-output.ts"
import { withEngine, withEngineOptions } from "./engine-options.ts"
import { type HealthCheck, formatCheck } from "./health-check.ts"
import { watchInterrupts } from "./interrupts.ts"
import { ProgressLine } from "./progress-line.ts"

const LEAST_NODE = [20, 19] as const

interface DoctorOptions {
  readonly image?: string
  readonly dockerHost?: string
  readonly dockerContext?: string
  readonly json?: true
}

/** `glovebox doctor`: whether code can run in the sandbox on this machine, and what to do when not. */
export function doctorCommand(output: CommandOutput): Command {
  const command = new Command("doctor")
    .summary("see whether code can run in the sandbox here")
    .description(
      "Look at what the machine has, run a block in the sandbox, and say what to do about what is missing.",
    )
    .option("-i, --image <name>", "the image to look for (default: the policy's default)")
  return withEngineOptions(command)
    .option("--json", "print JSON")
    .addHelpText("after", "\nExits with 0 when code can run in the sandbox, with 1 when it cannot.")
    .action(async (options: DoctorOptions) => {
      using interrupts = watchInterrupts()
      try {
        await examine(options, output, interrupts.signal)
      } catch (error) {
        if (interrupts.exitCode === undefined) throw error
        output.exitCode = interrupts.exitCode
      }
    })
}

async function examine(options: DoctorOptions, output: CommandOutput, signal: AbortSignal): Promise<void> {
  using progress = new ProgressLine(output.stderr)
  const checks: HealthCheck[] = []
  for await (const check of allChecks(options, progress, signal)) {
    progress.clear()
    checks.push(check)
    if (!options.json) output.print(formatCheck(check, output.stdout))
  }
  const canRun = checks.every(({ status }) => status !== "fail")
  if (options.json) output.print(JSON.stringify({ canRun, checks }))
  else
    output.print(
      canRun
        ? "\nCode can run in the sandbox."
        : "\nCode cannot run in the sandbox: see the lines with fail.",
    )
  output.exitCode = canRun ? 0 : 1
}

async function* allChecks(
  options: DoctorOptions,
  progress: ProgressLine,
  signal: AbortSignal,
): AsyncGenerator<HealthCheck, void, undefined> {
  yield checkNode(process.versions.node)
  progress.show("asking the engine")
  const found = await lookAtEngine(options, signal)
  yield* found
  if (found.some(({ status }) => status === "fail")) return
  progress.show("running a block in the sandbox")
  const { image, dockerHost, dockerContext } = options
  yield* await checkSandbox({ image, dockerHost, dockerContext }, signal)
}

async function lookAtEngine(options: DoctorOptions, signal: AbortSignal): Promise<HealthCheck[]> {
  const foundBy = await howFound(options)
  try {
    return await withEngine(options, async (engine) => {
      const checks = await checkEngine(engine, foundBy, signal)
      if (checks.some(({ name, status }) => name === "engine" && status === "fail")) return checks
      return [...checks, await checkImage(engine, options.image), await checkLeftovers(engine)]
    })
  } catch (error) {
    signal.throwIfAborted()
    return [{ name: "engine", status: "fail", seen: `${foundBy}: ${errorMessage(error)}` }]
  }
}

/** Whether this version of Node is one that the package supports. */
export function checkNode(version: string): HealthCheck {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const [leastMajor, leastMinor] = LEAST_NODE
  const isEnough = major > leastMajor || (major === leastMajor && minor >= leastMinor)
  return {
    name: "node",
    status: isEnough ? "ok" : "fail",
    seen: version,
    remedy: isEnough ? undefined : `install Node ${LEAST_NODE.join(".")} or later`,
  }
}

async function checkImage(engine: Engine, name = new SandboxPolicy().fields.image): Promise<HealthCheck> {
  const image = await engine.image(name)
  if (image) return { name: "image", status: "ok", seen: `${name} is there (${image.id.slice(0, 19)})` }
  return {
    name: "image",
    status: "fail",
    seen: `${name} is not on the engine`,
    remedy: `docker pull ${name}; or, from the repository, scripts/engine, and then --image glovebox/sandbox:py3`,
  }
}

async function checkLeftovers(engine: Engine): Promise<HealthCheck> {
  const orphans = await findOrphans(engine)
  if (orphans.length === 0) return { name: "leftovers", status: "ok", seen: "none" }
  const seen = `${orphans.length} container${orphans.length === 1 ? "" : "s"} of processes that have ended`
  return { name: "leftovers", status: "warn", seen, remedy: "glovebox gc removes them; so does the next run" }
}
