import { delimiter } from "node:path"
import type { VirtualEnvContext } from "./virtual-env-context.ts"

// What programs need to work at all, and no secret is kept in; everything else of the host's stays here.
const PASSED = new Set(
  (
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR " +
    "SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT TEMP TMP USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA " +
    "LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE OS"
  ).split(" "),
)

// What is printed is the text that we read, and no caches come out as artifacts.
const PYTHON = { PYTHONIOENCODING: "utf-8", PYTHONDONTWRITEBYTECODE: "1" }

export interface HostEnvironmentOptions {
  /** Of this process. */
  readonly host: NodeJS.ProcessEnv
  /** What the user gives the code. */
  readonly env: Readonly<Record<string, string>>
  readonly virtualEnv: VirtualEnvContext | undefined
  /** A folder with Python modules. */
  readonly modules: string | undefined
}

/** The environment of code that runs on the host: names of a list, and what the user gives. */
export function hostEnvironment({
  host,
  env,
  virtualEnv,
  modules,
}: HostEnvironmentOptions): Record<string, string> {
  const passed = Object.entries(host).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isPassed(entry[0]),
  )
  const variables: Record<string, string> = { ...Object.fromEntries(passed), ...PYTHON, ...env }
  if (virtualEnv) {
    variables["VIRTUAL_ENV"] = virtualEnv.envDir
    prepend(variables, nameIn(variables, "PATH"), virtualEnv.binPath)
  }
  if (modules !== undefined) prepend(variables, "PYTHONPATH", modules)
  return variables
}

function isPassed(name: string): boolean {
  return PASSED.has(name.toUpperCase()) || /^LC_[A-Z]+$/.test(name)
}

// On Windows it is written `Path`, as a rule.
function nameIn(variables: Readonly<Record<string, string>>, wanted: string): string {
  return Object.keys(variables).find((name) => name.toUpperCase() === wanted) ?? wanted
}

function prepend(variables: Record<string, string>, name: string, folder: string): void {
  const rest = variables[name]
  variables[name] = rest ? `${folder}${delimiter}${rest}` : folder
}
