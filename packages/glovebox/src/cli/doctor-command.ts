import { Command, Option } from "commander"
import { findOrphans } from "../executors/docker/sweep-orphans.ts"
import type { Engine } from "../executors/docker/engine.ts"
import { errorMessage } from "../internal/error-message.ts"
import { SandboxPolicy, TIERS, type Tier } from "../policy/index.ts"
import { checkEngine, howFound } from "./check-engine.ts"
import { checkSandbox } from "./check-sandbox.ts"
import { checkHost, checkTier } from "./check-tiers.ts"
import type { CommandOutput } from "./command-output.ts"
import { withEngine, withEngineOptions } from "./engine-options.ts"
import { type HealthCheck, formatCheck } from "./health-check.ts"
import { watchInterrupts } from "./interrupts.ts"
import { ProgressLine } from "./progress-line.ts"

const LEAST_NODE = [20, 19] as const
const SANDBOXED = TIERS.filter((tier) => tier !== "local")

interface DoctorOptions {
  readonly sandbox?: (typeof SANDBOXED)[number]
  readonly image?: string
  readonly dockerHost?: string
  readonly dockerContext?: string
  readonly json?: true
}

/** `glovebox doctor`: in which sandboxes code can run on this machine, and what to do about the others. */
export function doctorCommand(output: CommandOutput): Command {
  const command = new Command("doctor")
    .description(
      "Look at what the machine has, run code in each sandbox, and say what to do about the others.",
    )
    .addOption(
      new Option("-s, --sandbox <name>", "the one that has to work, and the only one to look at").choices(
        SANDBOXED,
      ),
    )
    .option("-i, --image <name>", "the image that docker, or jupyter, has to have (default: each its own)")
  return withEngineOptions(command)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Exits with 0 when code can run in a sandbox, with 1 when it cannot; and with 1 when
what was asked for, by --sandbox, --image, --docker-host or --docker-context, does not work.`,
    )
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
  const sandboxes = SANDBOXED.filter((tier) =>
    checks.some(({ name, status }) => name === tier && status === "ok"),
  )
  const canRun = sandboxes.length > 0 && checks.every(({ status }) => status !== "fail")
  if (options.json) output.print(JSON.stringify({ canRun, sandboxes, checks }))
  else output.print(`\n${verdict(canRun, sandboxes)}`)
  output.exitCode = canRun ? 0 : 1
}

function verdict(canRun: boolean, sandboxes: readonly string[]): string {
  const where = sandboxes.length === 0 ? "in no sandbox" : `in ${sandboxes.join(", ")}`
  return canRun ? `Code can run ${where}.` : `Code can run ${where}: see the lines with fail.`
}

async function* allChecks(
  options: DoctorOptions,
  progress: ProgressLine,
  signal: AbortSignal,
): AsyncGenerator<HealthCheck, void, undefined> {
  const { dockerHost, dockerContext } = options
  const image = options.sandbox === "jupyter" ? options.image : undefined
  const isLookedAt = (tier: Tier): boolean => options.sandbox === undefined || options.sandbox === tier
  yield checkNode(process.versions.node)
  if (isLookedAt("docker")) yield* dockerChecks(options, progress, signal)
  for (const tier of SANDBOXED) {
    if (tier === "docker" || !isLookedAt(tier)) continue
    progress.show(`running a line of Python in ${tier}`)
    const isAsked = options.sandbox === tier
    yield await checkTier(tier, { dockerHost, dockerContext, image, isAsked, signal })
  }
  if (options.sandbox === undefined) yield checkHost()
}

async function* dockerChecks(
  options: DoctorOptions,
  progress: ProgressLine,
  signal: AbortSignal,
): AsyncGenerator<HealthCheck, void, undefined> {
  const { image, dockerHost, dockerContext, sandbox } = options
  const isAsked = [image, dockerHost, dockerContext, sandbox].some((option) => option !== undefined)
  const asAsked = (check: HealthCheck): HealthCheck =>
    check.status === "fail" && !isAsked ? { ...check, status: "off" } : check
  progress.show("asking the engine")
  const found = await lookAtEngine(options, signal)
  yield* found.map(asAsked)
  const missing = found.filter(({ status }) => status === "fail").map(({ name }) => name)
  if (missing.length > 0) {
    yield asAsked({ name: "docker", status: "fail", seen: `it cannot be used: see ${missing.join(", ")}` })
    return
  }
  progress.show("running a block in a container")
  yield* (await checkSandbox({ image, dockerHost, dockerContext }, signal)).map(asAsked)
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
