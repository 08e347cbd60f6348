import type { ApprovalTerminal } from "../../governance/index.ts"

/** The terminal of a chat, for questions in the place where the person types. */
export function chatTerminal(ask: ApprovalTerminal["ask"]): ApprovalTerminal {
  const output = process.stdout
  return {
    get columns() {
      return output.columns || 80
    },
    fd: "inherit",
    // As it is: what somebody approves they must have seen, and not what stands in its place.
    write: (text) => {
      output.write(text)
    },
    ask,
    close: () => {},
  }
}
