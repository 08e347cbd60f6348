import { revealedText, visibleLine } from "../../../internal/safe-text.ts"
import { SandboxPolicy, type PolicyChange, formatDuration } from "../../../policy/index.ts"
import type { ApprovalPayload } from "../approval-payload.ts"
import { isWider } from "../approval-rules.ts"
import type { GateRequest } from "../gate-request.ts"
import { type ShownLine, numbered, plain } from "./shown-line.ts"

/** All that a person needs to decide, line by line, with nothing in it that a terminal acts on, and nothing left out. */
export function requestLines(request: GateRequest, payload: ApprovalPayload): readonly ShownLine[] {
  const { id, kind, agent, risk, sha256, created, expires, context } = request
  const facts = [
    `Approval needed: ${kind}, risk ${risk}, asked for by ${visibleLine(agent)}`,
    `request ${visibleLine(id)}, SHA-256 ${visibleLine(sha256)}`,
    `expires ${new Date(expires).toISOString()}, ${formatDuration(expires - created)} after it was asked for`,
    ...reachOf(request),
    ...context.map((text) => `context: ${visibleLine(text)}`),
    ...(payload === request.payload ? [] : ["as you have edited it:"]),
  ]
  return [plain(""), ...facts.map(plain), plain(""), ...payloadLines(payload)]
}

function reachOf({ kind, policySha256, widenings }: GateRequest): readonly string[] {
  const sha256 = visibleLine(policySha256 ?? "unknown")
  if (kind === "policy") return [`policy in force: ${sha256}`]
  if (policySha256 === undefined) {
    return [
      kind === "tool"
        ? "no sandbox policy: it runs in this process"
        : "no sandbox policy is known: it may reach anything",
    ]
  }
  if (!isWider(kind, widenings))
    return [`policy ${sha256}: it reaches nothing beyond deny-all`, ...widenings.map(changeLine)]
  return [`policy ${sha256} is wider than deny-all. It lets it reach:`, ...widenings.map(changeLine)]
}

function payloadLines(payload: ApprovalPayload): readonly ShownLine[] {
  if ("codeBlocks" in payload) {
    return payload.codeBlocks.flatMap(({ code, language, file }) => {
      const lines = linesOf(code)
      const where = file === undefined ? "" : `, file ${visibleLine(file)}`
      return [
        plain(`${visibleLine(language)}${where}, ${count(lines.length, "line")}`),
        ...lines.map(numbered),
        plain(""),
      ]
    })
  }
  if ("tool" in payload) {
    const lines = linesOf(JSON.stringify(payload.arguments, undefined, 2))
    return [plain(`tool ${visibleLine(payload.tool)} with`), ...lines.map(numbered), plain("")]
  }
  const [from, to] = [new SandboxPolicy(payload.from), new SandboxPolicy(payload.to)]
  const changes = to.diff(from)
  return [
    plain(`to policy ${to.sha256}: ${count(changes.length, "change")}`),
    ...changes.map(changeLine).map(numbered),
    plain(""),
  ]
}

function linesOf(text: string): readonly string[] {
  const lines = revealedText(text).split("\n")
  // What ends a line begins no other.
  return lines.length > 1 && lines.at(-1) === "" ? lines.slice(0, -1) : lines
}

function changeLine({ path, from, to, effect }: PolicyChange): string {
  return `${visibleLine(path)}: ${visibleLine(from)} -> ${visibleLine(to)} (${effect})`
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`
}
