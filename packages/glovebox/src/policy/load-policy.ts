import { readFile } from "node:fs/promises"
import { LineCounter, parseDocument } from "yaml"
import { GloveboxError } from "../core/index.ts"
import { errorMessage } from "../internal/error-message.ts"
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
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, strict: true, version: "1.2" })
  const at = (offset: number | undefined): string => {
    if (offset === undefined) return name
    const { line, col } = lines.linePos(offset)
    return `${name}:${line}:${col}`
  }
  const { yaml } = document.directives ?? {}
  // An older version reads `no` as false and merges with `<<`.
  if (yaml?.explicit && yaml.version !== "1.2")
    throw invalid([`${name}: YAML ${yaml.version} is not read. Use 1.2.`])
  const [broken] = [...document.errors, ...document.warnings]
  if (broken) throw invalid([`${at(broken.pos[0])}: ${broken.message.split("\n")[0] ?? ""}`])
  const value = readValue(document, name) ?? {}
  const result = policySchema.safeParse(value)
  if (result.success) return new SandboxPolicy(value)
  throw invalid(
    policyIssues(result.error.issues).map(({ path, message }) => {
      const where = path.map(String).join(".")
      return `${at(offsetOf(document, path))}: ${where === "" ? "" : `${where}: `}${message}`
    }),
  )
}

function readValue(document: ReturnType<typeof parseDocument>, name: string): object | undefined {
  try {
    // No aliases: a small file must not unfold into a large one.
    return document.toJS({ maxAliasCount: 0 }) as object | undefined
  } catch (cause) {
    throw invalid([`${name}: ${errorMessage(cause)}`])
  }
}

/** Where in the text a value stands; for one that is absent, where its parent stands. */
function offsetOf(
  document: ReturnType<typeof parseDocument>,
  path: readonly PropertyKey[],
): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    if (typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range)) {
      return node.range[0] as number
    }
  }
  return undefined
}

function invalid(problems: readonly string[]): GloveboxError {
  return new GloveboxError("POLICY_INVALID", `The policy is not valid.\n${problems.join("\n")}`)
}
