import type { Artifact, BlockResult, CodeResult } from "../code-result.ts"
import type { ExecutionEvent } from "../execution-event.ts"
import type { RichOutput } from "../rich-output.ts"
import type { Frame } from "./frame.ts"

export type EventChoice = "none" | "output" | "all"

/** Writes the events of one run as frames; a file travels once, however often it is told of. */
export class EventWriter {
  readonly #choice: EventChoice
  readonly #files = new Map<Artifact, number>()

  constructor(choice: EventChoice) {
    this.#choice = choice
  }

  write(event: ExecutionEvent): readonly Frame[] {
    if (event.type === "finished") return this.finished(event.result)
    if (event.type === "stdout" || event.type === "stderr") {
      if (this.#choice === "none") return []
      const { type, block, text, bytes } = event
      // Mostly the bytes are the text, and one of them is enough.
      const isSame = Buffer.from(text).equals(bytes)
      return [{ head: { type, block, ...(isSame ? {} : { text }) }, blobs: [bytes] }]
    }
    if (this.#choice !== "all") return []
    if (event.type === "artifact") return [this.#file("artifact", event.artifact)]
    const blobs: Uint8Array[] = []
    if (event.type === "display") {
      return [{ head: { ...event, outputs: event.outputs.map((output) => withBlob(output, blobs)) }, blobs }]
    }
    if (event.type !== "block-finished") return [{ head: event, blobs }]
    return [{ head: { ...event, result: blockWithBlobs(event.result, blobs) }, blobs }]
  }

  finished(result: CodeResult): readonly Frame[] {
    const unsent = result.artifacts.filter((artifact) => !this.#files.has(artifact))
    const files = unsent.map((artifact) => this.#file("file", artifact))
    const blobs: Uint8Array[] = []
    const head = {
      ...result,
      artifacts: result.artifacts.map((artifact) => this.#files.get(artifact)),
      blocks: result.blocks.map((block) => blockWithBlobs(block, blobs)),
      ...(result.outputs && { outputs: result.outputs.map((output) => withBlob(output, blobs)) }),
    }
    return [...files, { head: { type: "finished", result: head }, blobs }]
  }

  #file(type: "artifact" | "file", artifact: Artifact): Frame {
    this.#files.set(artifact, this.#files.size)
    const { content, ...rest } = artifact
    return { head: { type, artifact: rest }, blobs: [content] }
  }
}

function blockWithBlobs(block: BlockResult, blobs: Uint8Array[]): unknown {
  return block.outputs ? { ...block, outputs: block.outputs.map((output) => withBlob(output, blobs)) } : block
}

/** What is bytes is moved out, and named by its place. */
function withBlob(output: RichOutput, blobs: Uint8Array[]): unknown {
  if (!(output.data instanceof Uint8Array)) return output
  blobs.push(output.data)
  return { ...output, data: blobs.length - 1 }
}
