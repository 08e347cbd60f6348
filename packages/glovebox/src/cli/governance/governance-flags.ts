import type { Command } from "commander"

/** What the command line says of the record. */
export interface GovernanceFlags {
  /** A file; false for none. */
  readonly audit?: string | false
  readonly auditContent?: true
  /** The file of the key that signs the log. */
  readonly auditKey?: string
}

/** Gives a command the options that say what is written down, and where. */
export function withGovernanceOptions(command: Command): Command {
  return command
    .option("--audit <file>", "the log of all that happens (default: .glovebox/audit.jsonl)")
    .option("--no-audit", "keep no log")
    .option("--audit-content", "keep code, output and messages in the log, not only their hashes")
    .option("--audit-key <file>", "the private Ed25519 key, as PEM, that signs the log's checkpoints")
}
