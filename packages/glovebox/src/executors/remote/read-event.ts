import { createHash } from "node:crypto"
import { GloveboxError } from "../../core/index.ts"
import type { EgressConnection } from "../../egress/index.ts"
import { formatIssues } from "../../internal/format-issues.ts"
import type { Artifact, BlockResult, CodeResult } from "../code-result.ts"
import type { ExecutionEvent } from "../execution-event.ts"
import type { RichOutput } from "../rich-output.ts"
import { type WrittenEvent, type WrittenRich, eventSchema } from "./event-schema.ts"
import type { Frame } from "./frame.ts"
import { hasMoreItems } from "./item-count.ts"

// Each that is wrong is an issue of its own, hundreds of times as large.
const MAX_ITEMS = 300_000

type WrittenBlock = Extract<WrittenEvent, { type: "block-finished" }>["result"]
type WrittenResult = Extract<WrittenEvent, { type: "finished" }>["result"]

/** Reads the events of one run from frames of a far end that need not be honest. */
export class EventReader {
  readonly #files: Artifact[] = []
  readonly #paths = new Set<string>()
  readonly #blocks: number
  #isFinished = false

  constructor(blocks: number) {
    this.#blocks = blocks
  }

  /** The event in a frame; undefined for a file that only the result tells of. */
  read({ head, blobs }: Frame): ExecutionEvent | undefined {
    if (hasMoreItems(head, MAX_ITEMS)) throw invalid("the far end tells of more than anybody could look at")
    const { data: event, error } = eventSchema.safeParse(head)
    if (error) throw invalid(`the far end tells of something unknown: ${formatIssues(error.issues)}`)
    if (this.#isFinished) throw invalid("something comes after the end of the run")
    if ("block" in event && event.block >= this.#blocks)
      throw invalid("it tells of a block that was not sent")
    return this.#event(event, blobs)
  }

  #event(event: WrittenEvent, blobs: readonly Uint8Array[]): ExecutionEvent | undefined {
    switch (event.type) {
      case "stdout":
      case "stderr": {
        const bytes = blobs[0] ?? new Uint8Array()
        return { ...event, text: event.text ?? Buffer.from(bytes).toString(), bytes }
      }
      case "artifact":
        return { type: "artifact", artifact: this.#file(event.artifact, blobs[0]) }
      case "file":
        this.#file(event.artifact, blobs[0])
        return undefined
      case "display":
        return { ...event, outputs: event.outputs.map((output) => withData(output, blobs)) }
      case "block-finished":
        return { ...event, result: blockWithData(event.result, blobs) }
      case "finished":
        this.#isFinished = true
        return { type: "finished", result: this.#result(event.result, blobs) }
      case "egress":
        return { ...event, connection: withRule(event.connection) }
      case "started":
      case "block-started":
        break
    }
    return event
  }

  #file(told: Omit<Artifact, "content">, content: Uint8Array | undefined): Artifact {
    if (!content || content.length !== told.size || this.#paths.has(told.path)) {
      throw invalid("a file is not as long as it should be, or came twice")
    }
    if (createHash("sha256").update(content).digest("hex") !== told.sha256) {
      throw invalid("a file has another hash than it should have")
    }
    const artifact = { ...told, content }
    this.#paths.add(told.path)
    this.#files.push(artifact)
    return artifact
  }

  #result(result: WrittenResult, blobs: readonly Uint8Array[]): CodeResult {
    if (result.blocks.length > this.#blocks || new Set(result.artifacts).size !== result.artifacts.length) {
      throw invalid("the result has more blocks than were sent, or a file twice")
    }
    const { outputs, egress, ...rest } = result
    return {
      ...rest,
      blocks: result.blocks.map((block) => blockWithData(block, blobs)),
      artifacts: result.artifacts.map((index) => {
        const file = this.#files[index]
        if (!file) throw invalid("the result has a file that did not come")
        return file
      }),
      ...(outputs && { outputs: outputs.map((output) => withData(output, blobs)) }),
      ...(egress && { egress: egress.map(withRule) }),
    }
  }
}

function blockWithData({ outputs, ...block }: WrittenBlock, blobs: readonly Uint8Array[]): BlockResult {
  return outputs ? { ...block, outputs: outputs.map((output) => withData(output, blobs)) } : block
}

function withData(output: WrittenRich, blobs: readonly Uint8Array[]): RichOutput {
  if (output.type !== "png" && output.type !== "jpeg" && output.type !== "gif") return output
  const data = blobs[output.data]
  if (!data) throw invalid("an image did not come")
  return { ...output, data }
}

type WrittenConnection = Extract<WrittenEvent, { type: "egress" }>["connection"]

// JSON leaves out a field that is undefined, and this one is always there.
function withRule({ denial, ...connection }: WrittenConnection): EgressConnection {
  return denial ? { ...connection, denial: { ...denial, rule: denial.rule } } : connection
}

function invalid(what: string): GloveboxError {
  return new GloveboxError("REPLY_INVALID", `The run cannot be read: ${what}.`)
}
