import { constants } from "node:fs"
import { access, stat } from "node:fs/promises"
import { delimiter, isAbsolute, join } from "node:path"

/** Where a program is on the PATH of this environment; undefined when it is not there. */
export async function findProgram(
  program: string,
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  for (const candidate of candidatesFor(program, env)) {
    if (await isProgram(candidate)) return candidate
  }
  return undefined
}

function candidatesFor(program: string, env: Readonly<Record<string, string>>): string[] {
  const endings =
    process.platform === "win32" ? ["", ...(valueOf(env, "PATHEXT") ?? ".EXE").split(";")] : [""]
  // A relative folder would be one that the code can write.
  const folders = (valueOf(env, "PATH") ?? "").split(delimiter).filter((folder) => isAbsolute(folder))
  const bare = isAbsolute(program) ? [program] : folders.map((folder) => join(folder, program))
  return bare.flatMap((path) => endings.map((ending) => `${path}${ending}`))
}

function valueOf(env: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1]
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
