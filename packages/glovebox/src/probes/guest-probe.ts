import { type Finding, allowed, blocked, failed, inconclusive } from "./finding.ts"
import type { Lab, LabRun } from "./lab.ts"

export type GuestLanguage = "python" | "javascript"

// Each attack is tried by itself: what it throws is its refusal, and what it returns is what it has got.
const PRELUDES: Readonly<Record<GuestLanguage, string>> = {
  javascript: `(async () => {
const found = []; let tried = 0
const attempt = async (name, action) => {
  tried += 1
  try {
    const value = await action()
    if (value) found.push(value === true ? name : name + ": " + String(value).slice(0, 60))
  } catch {}
}
`,
  python: `import json, os, sys
found, tried = [], 0
def attempt(name, action):
    global tried
    tried += 1
    try: value = action()
    except BaseException: return
    if value: found.append(name if value is True else "%s: %.60s" % (name, value))
`,
}

const EPILOGUES: Readonly<Record<GuestLanguage, (token: string) => string>> = {
  javascript: (token) =>
    `\nconsole.log("${token}" + JSON.stringify({ found: found.slice(0, 4), tried }))\n})()`,
  python: (token) => `\nprint("${token}" + json.dumps({"found": found[:4], "tried": tried}))`,
}

/** Attacks by a program in an interpreter: statements that call `attempt(name, action)`. */
export interface GuestAttacks {
  readonly language: GuestLanguage
  readonly attempts: string
}

/**
 * Makes the attacks, in a sandbox; for a control in the plain interpreter of this machine, where they have to work: it
 * is the very same program.
 */
export async function attackFromGuest(one: Lab, { language, attempts }: GuestAttacks): Promise<Finding> {
  const code = PRELUDES[language] + attempts + EPILOGUES[language](one.token)
  if (!one.isControl) return judge(one, await one.sandboxes.run(code, { language }))
  const run = await one.runOutside(language, code)
  return run ? judge(one, run) : inconclusive(`this machine has no ${language} to show it with`)
}

function judge({ token }: Lab, run: Pick<LabRun, "stdout" | "stderr" | "exitCode">): Finding {
  const line = run.stdout.split("\n").find((text) => text.startsWith(token))
  const answer = line === undefined ? undefined : read(line.slice(token.length))
  if (!answer) return failed(`it ended with ${run.exitCode}: ${run.stderr.trim().split("\n").at(-1) ?? ""}`)
  const { found, tried } = answer
  if (found.length > 0) return allowed(found.join("; "))
  return tried === 0 ? failed("nothing was tried") : blocked(`${tried} tried, none of which worked`)
}

function read(text: string): { readonly found: readonly string[]; readonly tried: number } | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== "object" || value === null) return undefined
  const { found, tried } = value as Record<string, unknown>
  if (!Array.isArray(found) || typeof tried !== "number") return undefined
  return { found: found.map(String), tried }
}
