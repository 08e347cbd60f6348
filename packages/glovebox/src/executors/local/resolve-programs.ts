import { GloveboxError } from "../../core/index.ts"
import type { Language } from "../languages.ts"
import type { PlannedBlock } from "../sandbox/plan-blocks.ts"
import { findProgram } from "./find-program.ts"
import type { VirtualEnvContext } from "./virtual-env-context.ts"

export interface ProgramSources {
  readonly env: Readonly<Record<string, string>>
  readonly virtualEnv: VirtualEnvContext | undefined
  /** Names of languages whose command is the user's own, and taken as it is. */
  readonly replaced: ReadonlySet<string>
}

// Under what other name a program may be there: Windows has these.
const OTHER_PROGRAMS: Readonly<Record<string, string>> = { pwsh: "powershell", python3: "python" }

/** The blocks with the program of each as it is found on this machine; one that is missing is an error. */
export async function resolvePrograms(
  blocks: readonly PlannedBlock[],
  sources: ProgramSources,
): Promise<PlannedBlock[]> {
  const resolved: PlannedBlock[] = []
  for (const block of blocks) {
    const [program = "", ...args] = block.argv
    const found = await programFor(block.language, program, sources)
    if (found === undefined) throw missing(program, block.language)
    resolved.push({ ...block, argv: [found, ...args] })
  }
  return resolved
}

async function programFor(
  language: Language,
  program: string,
  { env, virtualEnv, replaced }: ProgramSources,
): Promise<string | undefined> {
  if (replaced.has(language.name)) return findProgram(program, env)
  if (language.name === "python" && virtualEnv) return findProgram(virtualEnv.envExe, env)
  const other = OTHER_PROGRAMS[program]
  return (await findProgram(program, env)) ?? (other === undefined ? undefined : findProgram(other, env))
}

function missing(program: string, { name, install }: Language): GloveboxError {
  return new GloveboxError(
    "LANGUAGE_UNAVAILABLE",
    `This machine has no ${program} on the PATH, which runs ${name}: install ${install}, or name another program by the option languages.`,
  )
}
