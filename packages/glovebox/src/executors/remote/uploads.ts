import { createHash } from "node:crypto"
import { GloveboxError } from "../../core/index.ts"
import { formatBytes } from "../../policy/index.ts"
import type { ByteBudget } from "./byte-budget.ts"
import { CHUNK_BYTES } from "./messages.ts"

export interface UploadsOptions {
  readonly maxBytes: number
  /** How many may be unfinished at a time. */
  readonly maxCount: number
  readonly budget: ByteBudget
  /** How long one may wait for its next part. */
  readonly leaseMs: number
}

interface Upload {
  readonly parts: Buffer[]
  bytes: number
  readonly lease: NodeJS.Timeout
}

export interface UploadPart {
  readonly id: string
  readonly seq: number
  readonly data: string
}

/** What one client sends in parts, until it is whole. */
export class Uploads {
  readonly #options: UploadsOptions
  readonly #unfinished = new Map<string, Upload>()

  constructor(options: UploadsOptions) {
    this.#options = options
  }

  add({ id, seq, data }: UploadPart): void {
    const upload = this.#unfinished.get(id) ?? this.#begin(id)
    try {
      const part = this.#part(upload, seq, data)
      // Only the last may be short: many small ones would take far more memory than they count for.
      if (part.length !== CHUNK_BYTES) throw invalid("Only the last part of what is sent may be short.")
      this.#options.budget.take(part.length)
      upload.parts.push(part)
      upload.bytes += part.length
      upload.lease.refresh()
    } catch (error) {
      this.drop(id)
      throw error
    }
  }

  /** The whole, of which this is the last part. */
  finish(last: UploadPart & { readonly sha256: string }): Buffer {
    const upload = this.#unfinished.get(last.id)
    try {
      const part = this.#part(upload, last.seq, last.data)
      const whole = Buffer.concat([...(upload?.parts ?? []), part])
      if (createHash("sha256").update(whole).digest("hex") === last.sha256) return whole
      throw invalid("What was sent has another hash than it should have.")
    } finally {
      this.drop(last.id)
    }
  }

  drop(id: string): void {
    const upload = this.#unfinished.get(id)
    if (!upload) return
    this.#unfinished.delete(id)
    clearTimeout(upload.lease)
    this.#options.budget.giveBack(upload.bytes)
  }

  close(): void {
    for (const id of this.#unfinished.keys()) this.drop(id)
  }

  #begin(id: string): Upload {
    const { maxCount, leaseMs } = this.#options
    if (this.#unfinished.size >= maxCount) {
      throw new GloveboxError(
        "TRY_LATER",
        `${maxCount} calls are on their way already. Wait for one of them.`,
      )
    }
    const lease = setTimeout(() => this.drop(id), leaseMs).unref()
    const upload = { parts: [], bytes: 0, lease }
    this.#unfinished.set(id, upload)
    return upload
  }

  #part(upload: Upload | undefined, seq: number, data: string): Buffer {
    const part = Buffer.from(data, "base64")
    const { maxBytes } = this.#options
    if (seq !== (upload?.parts.length ?? 0) || part.length > CHUNK_BYTES) {
      throw invalid("The parts of what was sent are not in order, or too long.")
    }
    if ((upload?.bytes ?? 0) + part.length > maxBytes) {
      throw new GloveboxError(
        "MESSAGE_TOO_LARGE",
        `A call may send ${formatBytes(maxBytes)} of code or files, and this is more. Send less at a time.`,
      )
    }
    return part
  }
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("MESSAGE_INVALID", message)
}
