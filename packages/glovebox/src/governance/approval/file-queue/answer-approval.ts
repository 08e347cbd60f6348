import { GloveboxError } from "../../../core/index.ts"
import { errorMessage } from "../../../internal/error-message.ts"
import { userName } from "../../../internal/user-name.ts"
import { ApprovalError } from "../approval-error.ts"
import { type GateAnswer, readAnswer } from "../gate-answer.ts"
import { type GateRequest, idSchema, readRequest } from "../gate-request.ts"
import { QueueFolder } from "./queue-folder.ts"

export interface ListApprovalsOptions {
  /** Told of files that are no requests, and why; they are left alone. */
  readonly onRefused?: ((file: string, why: string) => void) | undefined
}

/** What waits in a folder of FileApprovalQueue, the oldest first. */
export async function listApprovals(
  folder: string,
  { onRefused = () => {} }: ListApprovalsOptions = {},
): Promise<readonly GateRequest[]> {
  const files = new QueueFolder(folder)
  await files.prepare()
  const answered = new Set([...(await files.ids("answer")), ...(await files.ids("used"))])
  const waiting: GateRequest[] = []
  for (const id of await files.ids("request")) {
    try {
      const request = answered.has(id) ? undefined : await readWaiting(files, id)
      if (request && request.expires > Date.now()) waiting.push(request)
    } catch (error) {
      onRefused(files.fileOf(id, "request"), errorMessage(error))
    }
  }
  return waiting.toSorted((a, b) => a.created - b.created)
}

/**
 * Answers a request that waits in a folder; the first answer counts. Give the `sha256` of what was looked at: an answer to
 * anything else is refused.
 *
 * @throws ApprovalError APPROVAL_UNKNOWN, APPROVAL_EXPIRED, APPROVAL_ANSWERED or APPROVAL_USED
 */
export async function answerApproval(folder: string, id: string, answer: GateAnswer): Promise<void> {
  if (!idSchema.safeParse(id).success)
    throw new GloveboxError("OPTION_INVALID", "This is not the id of a request.")
  const files = new QueueFolder(folder)
  await files.prepare()
  if ((await files.read(id, "used")) !== undefined) {
    throw new ApprovalError("APPROVAL_USED", id, `Request ${id} was used already.`)
  }
  const request = await readWaiting(files, id)
  if (!request) throw new ApprovalError("APPROVAL_UNKNOWN", id, `No request ${id} waits in ${folder}.`)
  if (request.expires <= Date.now())
    throw new ApprovalError("APPROVAL_EXPIRED", id, `Request ${id} has expired.`)
  const { sha256 } = request
  const said = readAnswer(request, answer)
  const isFirst = await files.create(id, "answer", {
    ...said,
    by: said.by ?? userName(),
    id,
    sha256,
  })
  if (!isFirst) throw new ApprovalError("APPROVAL_ANSWERED", id, `Request ${id} was answered already.`)
}

async function readWaiting(files: QueueFolder, id: string): Promise<GateRequest | undefined> {
  const found = await files.read(id, "request")
  if (found === undefined) return undefined
  const request = readRequest(found)
  if (request.id !== id) throw new GloveboxError("STATE_INVALID", `The file of ${id} holds another request.`)
  return request
}
