import { execFile } from "node:child_process"
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

export const root: string = fileURLToPath(new URL("..", import.meta.url))

export interface Example {
  /** Below the folder of the repository. */
  readonly path: string
  readonly code: string
  /** What it says that it prints. */
  readonly output: string
}

/** Every example that is a program; those that say nothing of what they print have a test of their own. */
export function allExamples(): readonly Example[] {
  return readdirSync(join(root, "examples"), { recursive: true, encoding: "utf8" })
    .map((name) => `examples/${name.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts") && !/test(-kit)?\.ts$|scripted-model\.ts$/.test(path))
    .toSorted()
    .map((path) => {
      const code = readFileSync(join(root, path), "utf8")
      return { path, code, output: /^\/\* Prints.*:\n([^]*)^\*\/$/m.exec(code)?.[1] ?? "" }
    })
}

/** Whether it needs a Docker engine. */
export function needsEngine({ code }: Example): boolean {
  return /"glovebox\/executors\/(?:docker|jupyter)"/.test(code)
}

/** Runs them as a user would who has no key, and gives what each printed. */
export async function runExamples(
  examples: readonly Example[],
  env: NodeJS.ProcessEnv,
): Promise<ReadonlyMap<string, string>> {
  const runner = join(root, "examples", "run-each.test-kit.ts")
  const args = [
    "--import",
    "tsx",
    "--conditions=@glovebox/source",
    runner,
    ...examples.map(({ path }) => path),
  ]
  const options = { cwd: root, env: { ...process.env, OPENAI_API_KEY: "", ...env } }
  const stdout = await promisify(execFile)(process.execPath, args, options).then(
    ({ stdout }) => stdout,
    // What ended the process is said by the one that did it, and those after it say nothing.
    ({ stdout, stderr }: Record<"stdout" | "stderr", string>) => `${stdout}${stderr}\n=== end\n`,
  )
  return new Map(
    [...stdout.matchAll(/^=== (examples\/\S+)\n([^]*?)(?=^=== )/gm)].map(([, path = "", output = ""]) => [
      path,
      output,
    ]),
  )
}
