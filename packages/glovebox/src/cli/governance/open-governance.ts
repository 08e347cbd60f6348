import { dirname, resolve } from "node:path"
import {
  type ApprovalGateOptions,
  type AuditLog,
  Governance,
  type GovernanceOptions,
  Redactor,
  type RedactorOptions,
} from "../../governance/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { CommandFailure } from "../command-failure.ts"
import type { CommandOutput } from "../command-output.ts"
import type { Config } from "../config/load-config.ts"
import { refuseWeakening } from "../config/refuse-weakening.ts"
import { CommandGovernance } from "./command-governance.ts"
import type { GovernanceFlags } from "./governance-flags.ts"
import { openAuditLog } from "./open-audit-log.ts"

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
  const redactor = new Redactor(redactionOf(config))
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
  try {
    return await openAuditLog({ path, folder: process.cwd(), note: (line) => output.note(line), signal })
  } catch (error) {
    if (isRequired(config) || !(error instanceof CommandFailure)) throw error
    output.note(`no log is kept: ${errorMessage(error.cause)}`)
    return undefined
  }
}

function redactionOf({ redaction = {}, model }: Config): RedactorOptions {
  const { values_from_env: listed = [], patterns = [] } = redaction
  const key = typeof model === "object" ? model.api_key_env : undefined
  const names = key === undefined ? listed : [...listed, key]
  // Whatever its name is, and where it would be too common to be told from other text, there is nothing to hide.
  const values = names.flatMap((name) => {
    const value = process.env[name]?.trim() ?? ""
    return value.length < SHORTEST ? [] : [[name, value] as const]
  })
  return {
    values: Object.fromEntries(values),
    patterns: patterns.map(({ name, pattern }) => ({ name, pattern: new RegExp(pattern, "u") })),
  }
}

const SHORTEST = 6

function filterOf({
  filter = {},
}: Config): NonNullable<ConstructorParameters<typeof Governance>[0]>["filter"] {
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
