import { GloveboxError } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { describe } from "../../internal/describe.ts"
import type { ChatItem } from "../messages/index.ts"
import { type Response, type TaskResult, sumUsage } from "../task/index.ts"
import { ConsoleOutput } from "./console-output.ts"
import { type ConsoleOptions, type ReadConsoleOptions, readConsoleOptions } from "./console-options.ts"
import type { Ending } from "./painter.ts"
import { PlainPainter } from "./plain-painter.ts"
import { RichPainter } from "./rich-painter.ts"
import { Transcript } from "./transcript.ts"

/**
 * Shows a stream while it runs, and gives what it comes to: readable at a terminal, plain lines elsewhere.
 *
 * @example
 * const { stopReason } = await Console(team.runStream("Which product sells best?"))
 */
export async function Console<Result extends TaskResult | Response>(
  stream: AsyncIterable<ChatItem | Result>,
  options: ConsoleOptions = {},
): Promise<Result> {
  const read = readConsoleOptions(options)
  const iterator = iterate(stream)
  using output = new ConsoleOutput(read.output)
  const stop = read.signal ? AbortSignal.any([read.signal, output.gone]) : output.gone
  const screen = read.userInput?.attach()
  const painter = read.isRich ? new RichPainter(read.showsImages) : new PlainPainter()
  const transcript = new Transcript(painter)
  const begin = performance.now()
  let result: Result | undefined
  let isWaiting = false
  let isOver = false
  try {
    for (;;) {
      stop.throwIfAborted()
      screen?.idle(true)
      isWaiting = true
      const next = await abortable(iterator.next(), stop)
      isWaiting = false
      screen?.idle(false)
      isOver = next.done === true
      if (next.done === true) break
      const item = next.value
      if (item.type === "TaskResult" || item.type === "Response") {
        result = item
        continue
      }
      await output.write(transcript.show(item), stop)
      if (item.type === "UserInputRequestedEvent") screen?.drawn(item.requestId)
    }
    if (!result) throw noResult()
    const last = result.type === "Response" ? transcript.show(result.chatMessage) : ""
    const ending = painter.ending(endingOf(result, read, performance.now() - begin))
    // The run is over: if nobody reads the rest, its result is still the result.
    output.put(last + transcript.finish() + ending)
    await output.flush(stop).catch(() => {})
    return result
  } catch (error) {
    // A stream that failed is over as well.
    isOver ||= isWaiting && !stop.aborted
    output.put(transcript.finish())
    throw error
  } finally {
    screen?.leave()
    if (!isOver) {
      const left = Promise.resolve(iterator.return?.()).catch(() => {})
      // In the middle of something it ends only after that; nobody has to wait for it.
      if (!isWaiting) await left
    }
  }
}

function iterate<Item>(stream: AsyncIterable<Item>): AsyncIterator<Item> {
  const isStream = typeof stream === "object" && stream !== null && Symbol.asyncIterator in stream
  if (isStream) return stream[Symbol.asyncIterator]()
  throw new GloveboxError(
    "OPTION_INVALID",
    `${describe(stream)} is no stream. Pass team.runStream("task"), not team.run("task").`,
  )
}

function endingOf(
  result: TaskResult | Response,
  { outputStats }: ReadConsoleOptions,
  durationMs: number,
): Ending {
  const messages =
    result.type === "TaskResult" ? result.messages : [...result.innerMessages, result.chatMessage]
  const usage = result.type === "TaskResult" ? result.usage : sumUsage(messages)
  return {
    stop: result.type === "TaskResult" ? { kind: result.stopKind, reason: result.stopReason } : undefined,
    stats: outputStats ? { messages: messages.length, ...usage, durationMs } : undefined,
  }
}

function noResult(): GloveboxError {
  return new GloveboxError(
    "OPTION_INVALID",
    "The stream ended without a TaskResult or a Response. Pass team.runStream(...) or agent.onMessagesStream(...).",
  )
}
