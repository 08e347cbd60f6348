import { StringDecoder } from "node:string_decoder"
import type {
  BlockResult,
  CodeResult,
  ExecutionEvent,
  OutputEvent,
  RichOutput,
} from "../../executors/index.ts"
import type { Redactor } from "../redaction/redactor.ts"

/** What happens while code runs, without secrets, also where two pieces of output have one between them. */
export async function* redactEvents(
  events: AsyncIterable<ExecutionEvent>,
  redactor: Redactor,
): AsyncGenerator<ExecutionEvent, void, undefined> {
  let outputs = new Map<string, CleanOutput>()
  for await (const event of events) {
    switch (event.type) {
      case "stdout":
      case "stderr": {
        const output = outputs.get(event.type) ?? new CleanOutput(event, redactor)
        outputs.set(event.type, output)
        yield* output.push(event)
        break
      }
      case "block-finished":
        for (const output of outputs.values()) yield* output.end()
        outputs = new Map()
        yield { ...event, result: redactBlock(event.result, redactor) }
        break
      case "display":
        yield { ...event, outputs: redactRich(event.outputs, redactor) }
        break
      case "finished":
        for (const output of outputs.values()) yield* output.end()
        yield { ...event, result: redactResult(event.result, redactor) }
        break
      case "egress":
        yield { ...event, connection: redactor.value(event.connection) as typeof event.connection }
        break
      case "started":
      case "block-started":
      case "artifact":
        yield event
        break
      default:
        yield event satisfies never
    }
  }
}

/** One of the two outputs of a block. */
class CleanOutput {
  readonly #redaction
  readonly #decoder = new StringDecoder("utf8")
  readonly #from: Pick<OutputEvent, "type" | "block">

  constructor({ type, block }: OutputEvent, redactor: Redactor) {
    this.#from = { type, block }
    this.#redaction = redactor.stream()
  }

  // A byte is a character here, so that whatever is no text passes as it is.
  push({ bytes }: OutputEvent): readonly OutputEvent[] {
    return this.#events(this.#redaction.push(Buffer.from(bytes).toString("latin1")), false)
  }

  end(): readonly OutputEvent[] {
    return this.#events(this.#redaction.end(), true)
  }

  #events(clean: string, isLast: boolean): readonly OutputEvent[] {
    const bytes = Buffer.from(clean, "latin1")
    const text = this.#decoder.write(bytes) + (isLast ? this.#decoder.end() : "")
    return bytes.length === 0 && text === "" ? [] : [{ ...this.#from, text, bytes }]
  }
}

function redactResult(result: CodeResult, redactor: Redactor): CodeResult {
  const { outputs, egress, stateLostBecause } = result
  return {
    ...result,
    ...texts(result, redactor),
    blocks: result.blocks.map((block) => redactBlock(block, redactor)),
    ...(outputs && { outputs: redactRich(outputs, redactor) }),
    ...(egress && { egress: redactor.value(egress) as typeof egress }),
    ...(stateLostBecause !== undefined && { stateLostBecause: redactor.text(stateLostBecause) }),
  }
}

function redactBlock(block: BlockResult, redactor: Redactor): BlockResult {
  const { outputs } = block
  return { ...block, ...texts(block, redactor), ...(outputs && { outputs: redactRich(outputs, redactor) }) }
}

function texts(
  { output, stdout, stderr }: Pick<BlockResult, "output" | "stdout" | "stderr">,
  redactor: Redactor,
): Pick<BlockResult, "output" | "stdout" | "stderr"> {
  return { output: redactor.text(output), stdout: redactor.text(stdout), stderr: redactor.text(stderr) }
}

function redactRich(outputs: readonly RichOutput[], redactor: Redactor): readonly RichOutput[] {
  return outputs.map((output) =>
    output.data instanceof Uint8Array
      ? output
      : ({ ...output, data: redactor.value(output.data) } as RichOutput),
  )
}
