import type { Command } from "commander"
import type { CommandOutput } from "./command-output.ts"

/** A command that is read when it is asked for: most of the time to start is reading what is not used. */
export interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly load: (output: CommandOutput) => Promise<Command>
}

/** In the order in which help lists them. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "run",
    summary: "let a model work on a task, with code in the sandbox",
    load: async (output) => (await import("./run-command.ts")).runCommand(output),
  },
  {
    name: "chat",
    summary: "talk with a model, with code in the sandbox",
    load: async (output) => (await import("./chat-command.ts")).chatCommand(output),
  },
  {
    name: "exec",
    summary: "run code in the sandbox",
    load: async (output) => (await import("./exec-command.ts")).execCommand(output),
  },
  {
    name: "repl",
    summary: "run Python cell by cell in the sandbox",
    load: async (output) => (await import("./repl-command.ts")).replCommand(output),
  },
  {
    name: "policy",
    summary: "check, show and compare sandbox policies",
    load: async (output) => (await import("./policy-command.ts")).policyCommand(output),
  },
  {
    name: "doctor",
    summary: "see in which sandboxes code can run here",
    load: async (output) => (await import("./doctor-command.ts")).doctorCommand(output),
  },
  {
    name: "verify",
    summary: "attack the sandbox, and see what holds",
    load: async (output) => (await import("./verify-command.ts")).verifyCommand(output),
  },
  {
    name: "audit",
    summary: "read and check the record of what agents did",
    load: async (output) => (await import("./audit-command.ts")).auditCommand(output),
  },
  {
    name: "approvals",
    summary: "see and answer what waits for approval",
    load: async (output) => (await import("./approvals-command.ts")).approvalsCommand(output),
  },
  {
    name: "gc",
    summary: "remove what dead processes left on the engine",
    load: async (output) => (await import("./gc-command.ts")).gcCommand(output),
  },
  {
    name: "mcp",
    summary: "serve the sandbox to MCP clients",
    load: async (output) => (await import("./mcp-command.ts")).mcpCommand(output),
  },
  {
    name: "host",
    summary: "pass messages between workers",
    load: async (output) => (await import("./host-command.ts")).hostCommand(output),
  },
  {
    name: "worker",
    summary: "serve agents, or a sandbox, to all workers of a host",
    load: async (output) => (await import("./worker-command.ts")).workerCommand(output),
  },
]
