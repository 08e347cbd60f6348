const PIP_INSTALL = String.raw`(?:python3?[ \t]+-m[ \t]+)?pip3?[ \t]+install(?=\s|$)`
const IN_SHELL = new RegExp(String.raw`^[ \t]*${PIP_INSTALL}`)
const IN_NOTEBOOK = new RegExp(String.raw`^[ \t]*[!%][ \t]*${PIP_INSTALL}`)

const BY_LANGUAGE: ReadonlyMap<string, RegExp> = new Map([
  ["bash", IN_SHELL],
  ["sh", IN_SHELL],
  ["powershell", IN_SHELL],
  ["python", IN_NOTEBOOK],
])

/** Makes lines that install packages say only errors, which is all that a model needs to see of them. */
export function silencePip(code: string, languageName: string): string {
  const install = BY_LANGUAGE.get(languageName)
  if (!install || !code.includes("pip")) return code
  return code
    .split("\n")
    .map((line) => (isQuiet(line) ? line : line.replace(install, (command) => `${command} -qqq`)))
    .join("\n")
}

function isQuiet(line: string): boolean {
  return line
    .split(/\s+/)
    .some((word) => word === "--quiet" || (/^-[A-Za-z]+$/.test(word) && word.includes("q")))
}
