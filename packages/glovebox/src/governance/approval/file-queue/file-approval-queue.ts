import { z } from "zod"
import { readOptions } from "../../../core/read-options.ts"
import { ApprovalError, usedAlready } from "../approval-error.ts"
import type { ApprovalProvider, AskOptions } from "../approval-provider.ts"
import { durationSchema } from "../duration-schema.ts"
import type { GateRequest } from "../gate-request.ts"
import { FolderWatch } from "./folder-watch.ts"
import { QueueFolder } from "./queue-folder.ts"

export interface FileApprovalQueueOptions {
  /** Made when it is not there, for this user only. */
  readonly folder: string
  /** How often to look, beside being told of changes, as "2s" or in milliseconds. @default "2s" */
  readonly poll?: string | number | undefined
}

const optionsSchema = z.strictObject({ folder: z.string().min(1), poll: durationSchema.default(2000) })

const answerSchema = z.looseObject({ id: z.string(), sha256: z.string() })
const markSchema = z.looseObject({ expires: z.number() })

/** Requests as files of a folder, which another process answers with `answerApproval`. */
export class FileApprovalQueue implements ApprovalProvider {
  readonly name: string = "file queue"
  readonly #folder: QueueFolder
  readonly #pollMs: number

  constructor(options: FileApprovalQueueOptions) {
    const { folder, poll } = readOptions("FileApprovalQueue", optionsSchema, options)
    this.#folder = new QueueFolder(folder)
    this.#pollMs = poll
  }

  async ask(request: GateRequest, { signal }: AskOptions): Promise<unknown> {
    await this.#folder.prepare()
    // Before the first look, so that no answer comes in between.
    const changes = new FolderWatch(this.#folder.path, this.#pollMs)
    try {
      await this.post(request, { signal })
      for (;;) {
        const answer = await this.peek(request)
        if (answer !== undefined) return answer
        await changes.next(signal)
      }
    } finally {
      changes.close()
    }
  }

  async post(request: GateRequest, { signal }: AskOptions): Promise<void> {
    await this.#folder.prepare()
    await this.#sweep()
    await this.#refuseUsed(request)
    signal.throwIfAborted()
    await this.#folder.write(request.id, "request", request)
    // It may have been withdrawn while it was being written.
    if (signal.aborted) await this.withdraw(request)
  }

  async peek(request: GateRequest): Promise<unknown> {
    await this.#folder.prepare()
    await this.#refuseUsed(request)
    const found = await this.#folder.read(request.id, "answer")
    if (found === undefined) return undefined
    const { data, error } = answerSchema.safeParse(found)
    // Here the hash is no option: whoever answers says what was looked at.
    if (error || data.id !== request.id) {
      throw new ApprovalError("APPROVAL_DENIED", request.id, "The answer does not say what it is for.")
    }
    const { id: _id, ...answer } = data
    return answer
  }

  async withdraw({ id }: GateRequest): Promise<void> {
    await this.#folder.remove(id, "request", "answer")
  }

  async claim({ id, expires }: GateRequest): Promise<boolean> {
    const isFirst = await this.#folder.create(id, "used", { id, expires })
    await this.#folder.remove(id, "request", "answer")
    return isFirst
  }

  async #refuseUsed({ id }: GateRequest): Promise<void> {
    if ((await this.#folder.read(id, "used")) === undefined) return
    throw usedAlready(id)
  }

  // What has expired can neither be answered nor used. What cannot be read is not ours to remove.
  async #sweep(): Promise<void> {
    for (const file of ["request", "used"] as const) {
      for (const id of await this.#folder.ids(file)) {
        const { data } = markSchema.safeParse(await this.#folder.read(id, file).catch(() => undefined))
        if (data && data.expires <= Date.now()) await this.#folder.remove(id, file, "answer")
      }
    }
  }
}
