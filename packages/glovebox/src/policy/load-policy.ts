import { readFile } from "node:fs/promises"
import { GloveboxError } from "../core/index.ts"
import { errorMessage } from "../internal/error-message.ts"
import { parseYaml } from "../internal/yaml-text.ts"
import { policyIssues } from "./policy-issues.ts"
import { policySchema } from "./policy-schema.ts"
import { SandboxPolicy } from "./sandbox-policy.ts"

/** Reads a policy from a YAML or JSON file; errors name the file and line. */
export async function loadPolicy(
  path: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<SandboxPolicy> {
  let text: string
  try {
    text = await readFile(path, { encoding: "utf8", signal: options.signal })
  } catch (cause) {
    options.signal?.throwIfAborted()
    throw new GloveboxError(
      "POLICY_INVALID",
      `The policy file ${path} cannot be read: ${errorMessage(cause)}`,
      { cause },
    )
  }
  return parsePolicy(text, path)
}

/** Reads a policy from YAML or JSON text; JSON is a part of YAML, so one reader does for both. */
export function parsePolicy(text: string, name = "policy"): SandboxPolicy {
  const read = parseYaml(text, name)
  if ("problem" in read) throw invalid([read.problem])
  const value = read.value ?? {}
  const result = policySchema.safeParse(value)
  if (result.success) return new SandboxPolicy(value)
  throw invalid(
    policyIssues(result.error.issues).map(({ path, message }) => {
      const where = path.map(String).join(".")
      return `${read.at(path)}: ${where === "" ? "" : `${where}: `}${message}`
    }),
  )
}

function invalid(problems: readonly string[]): GloveboxError {
  return new GloveboxError("POLICY_INVALID", `The policy is not valid.\n${problems.join("\n")}`)
}
