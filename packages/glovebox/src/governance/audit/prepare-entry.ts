import { GloveboxError } from "../../core/glovebox-error.ts"
import { type JsonObject, checkJson } from "../../core/json.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { formatIssues } from "../../internal/format-issues.ts"
import type { AuditLogSettings } from "./audit-log-options.ts"
import type { ChainEntry } from "./chain-draft.ts"
import { AUDIT_DATA, AUDIT_KINDS, type AuditEntry } from "./record-kinds.ts"

// What a line has beside its data.
const FRAME_BYTES = 1024

/** Checks an entry and takes the secrets out of it. @throws AUDIT_RECORD_INVALID */
export function prepareEntry(entry: AuditEntry, settings: AuditLogSettings): ChainEntry {
  if (!Object.hasOwn(AUDIT_DATA, entry.kind)) {
    throw invalid(`there is no kind ${JSON.stringify(entry.kind)}, only ${AUDIT_KINDS.join(", ")}`)
  }
  const { data, error } = AUDIT_DATA[entry.kind].safeParse(entry.data)
  if (error) throw invalid(`${entry.kind}: ${formatIssues(error.issues)}`)
  let text: string
  try {
    checkJson(data)
    // Now: what the caller changes later must not change what waits to be written.
    text = JSON.stringify(data)
    if (settings.redact) {
      const clean = settings.redact(JSON.parse(text) as JsonObject)
      checkJson(clean)
      text = JSON.stringify(clean)
    }
  } catch (cause) {
    throw invalid(`${entry.kind}: ${errorMessage(cause)}`, cause)
  }
  const run = entry.run ?? settings.run ?? null
  const agent = entry.agent ?? null
  const bytes = Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify([run, agent])) + FRAME_BYTES
  if (bytes > settings.maxRecordBytes) {
    throw invalid(`${entry.kind}: it has ${bytes} bytes, and may have ${settings.maxRecordBytes}`)
  }
  return { run, agent, kind: entry.kind, data: text }
}

function invalid(what: string, cause?: unknown): GloveboxError {
  return new GloveboxError("AUDIT_RECORD_INVALID", `This is no audit record: ${what}.`, { cause })
}
