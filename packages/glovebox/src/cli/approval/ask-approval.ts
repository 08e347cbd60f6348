import type { SandboxPolicy } from "../../policy/index.ts"
import type { CodeBlock } from "../../executors/index.ts"
import type { CommandOutput } from "../command-output.ts"
import { describeReach, reachOf } from "./approval-lane.ts"
import { editCode } from "./edit-code.ts"
import { visibleText } from "../../internal/safe-text.ts"

/** Asks a person on the terminal; rejects when the signal is aborted. */
export type AskPerson = (question: string, signal: AbortSignal) => Promise<string>

export interface AskApprovalOptions {
  readonly output: CommandOutput
  readonly policy: SandboxPolicy
  readonly sandbox: string
  readonly ask: AskPerson
}

/** The blocks that may run, perhaps edited; or why not. */
export type CodeDecision =
  | { readonly approved: true; readonly blocks: readonly CodeBlock[] }
  | { readonly approved: false; readonly reason: string }

export const NOT_APPROVED = "The user did not approve it."

/** Shows code and what it could reach, and asks whether it may run. Anything but a yes is a no. */
export async function askApproval(
  proposed: readonly CodeBlock[],
  { output, policy, sandbox, ask }: AskApprovalOptions,
  signal: AbortSignal,
): Promise<CodeDecision> {
  const reach = reachOf(policy)
  let blocks = proposed
  for (;;) {
    show(blocks, output)
    const reaches = reach.length === 0 ? "it reaches nothing" : `it can reach ${describeReach(reach)}`
    output.note(`this code is to run in ${sandbox}; ${reaches} (policy ${policy.sha256.slice(0, 12)})`)
    const answer = await ask("Run it? y(es), n(o), e(dit): ", signal)
    switch (answer.trim().toLowerCase()) {
      case "y":
      case "yes":
        return { approved: true, blocks }
      case "e":
      case "edit":
        blocks = await editAll(blocks, output, signal)
        break
      default:
        return { approved: false, reason: NOT_APPROVED }
    }
  }
}

function show(blocks: readonly CodeBlock[], output: CommandOutput): void {
  for (const { code, language } of blocks) {
    const lines = visibleText(code.trimEnd()).split("\n")
    const width = String(lines.length).length
    const numbered = lines.map(
      (line, index) => `${output.stderr.style("dim", String(index + 1).padStart(width))} ${line}`,
    )
    output.stderr.put(`\n${output.stderr.style("bold", language)}\n${numbered.join("\n")}\n\n`)
  }
}

async function editAll(
  blocks: readonly CodeBlock[],
  output: CommandOutput,
  signal: AbortSignal,
): Promise<readonly CodeBlock[]> {
  const edited: CodeBlock[] = []
  for (const block of blocks) {
    try {
      edited.push({ ...block, code: await editCode(block.code, signal) })
    } catch (error) {
      signal.throwIfAborted()
      output.note(`it was not edited: ${error instanceof Error ? error.message : String(error)}`)
      return blocks
    }
  }
  return edited
}
