import { dirname, resolve } from "node:path"
import { GloveboxError } from "../../core/index.ts"
import {
  type ApprovalGateOptions,
  type AuditLog,
  Governance,
  type GovernanceOptions,
  Redactor,
} from "../../governance/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { CommandFailure } from "../command-failure.ts"
import type { CommandOutput } from "../command-output.ts"
import type { Config } from "../config/load-config.ts"
import { refuseWeakening } from "../config/refuse-weakening.ts"
import { CommandGovernance } from "./command-governance.ts"
import type { GovernanceFlags } from "./governance-flags.ts"
import { openAuditLog } from "./open-audit-log.ts"
import { readSigningKey } from "./read-signing-key.ts"

export interface OpenGovernanceOptions {
  /** As the log names it. */
  readonly command: string
  readonly options: GovernanceFlags
  readonly config: Config
  /** Who is asked before code runs, and by which rules; false where it is the user's own code. */
  readonly approval: ApprovalGateOptions | false
}

/** What a command is governed by: the options, then the configuration, then what is on by default. */
export async function openGovernance(
  { command, options, config, approval }: OpenGovernanceOptions,
  { output, signal }: { readonly output: CommandOutput; readonly signal: AbortSignal },
): Promise<CommandGovernance> {
  await refuseWeakening(config)
  const redactor = redactorFor(config)
  output.redaction.use(redactor)
  const log = await logFor(options, config, { output, signal })
  const isKept = options.auditContent ?? (config.audit === false ? false : config.audit?.content)
  const settings: GovernanceOptions = {
    audit: log ?? false,
    auditRequired: isRequired(config),
    content: isKept ? { code: true, output: true, arguments: true, messages: true } : {},
    approval,
    redaction: redactor,
    filter: filterOf(config),
    access: config.access,
    onUnrecorded: noteOnce(output),
  }
  return new CommandGovernance({ command, log, govern: (run) => new Governance({ ...settings, run }) })
}

function isRequired({ audit }: Config): boolean {
  return audit === false || (audit?.required ?? true)
}

async function logFor(
  options: GovernanceFlags,
  config: Config,
  { output, signal }: { readonly output: CommandOutput; readonly signal: AbortSignal },
): Promise<AuditLog | undefined> {
  const named = typeof options.audit === "string" ? options.audit : undefined
  if (options.audit === false || (named === undefined && config.audit === false)) return undefined
  const { path: configured } = config.audit === false ? {} : (config.audit ?? {})
  const path =
    named ?? (configured === undefined ? undefined : resolve(dirname(config.file ?? "."), configured))
  // A key that does not work is no log that cannot be written: nobody goes on without it.
  const signingKey = options.auditKey === undefined ? undefined : await readSigningKey(options.auditKey)
  const note = (line: string): void => output.note(line)
  try {
    return await openAuditLog({ path, folder: process.cwd(), note, signal, signingKey })
  } catch (error) {
    if (isRequired(config) || !(error instanceof CommandFailure)) throw error
    output.note(`no log is kept: ${errorMessage(error.cause)}`)
    return undefined
  }
}

function redactorFor({ redaction = {}, model }: Config): Redactor {
  const { values_from_env: listed = [], patterns = [] } = redaction
  const redactor = new Redactor({
    patterns: patterns.map(({ name, pattern }) => ({ name, pattern: new RegExp(pattern, "u") })),
  })
  const key = typeof model === "object" ? model.api_key_env : undefined
  // Whatever the variable is called.
  for (const name of key === undefined ? listed : [...listed, key]) {
    try {
      redactor.register(process.env[name]?.trim() ?? "", { name })
    } catch (error) {
      // What is too common to be told from other text, as a key that a local server asks for and ignores, hides nothing.
      if (!GloveboxError.is(error, "OPTION_INVALID")) throw error
    }
  }
  return redactor
}

function filterOf({ filter = {} }: Config): GovernanceOptions["filter"] {
  const { actions = {}, extend = [] } = filter
  return {
    actions,
    extend: extend.map(({ pattern, ...rule }) => ({ ...rule, pattern: new RegExp(pattern, "u") })),
  }
}

function noteOnce(output: CommandOutput): (error: unknown) => void {
  let isFirst = true
  return (error) => {
    if (isFirst) output.note(`the audit log misses records: ${errorMessage(error)}`)
    isFirst = false
  }
}
