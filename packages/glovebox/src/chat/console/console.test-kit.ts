import { Writable } from "node:stream"
import { type ChatItem, type CodeRun, TextMessage } from "../messages/index.ts"
import type { Response, TaskResult } from "../task/index.ts"
import { Console, type ConsoleOptions } from "./index.ts"

const ESCAPE = String.fromCodePoint(0x1b)
const SGR = new RegExp(`${ESCAPE}\\[(?:[0-9]+;?)+m`, "g")

/** A stream that keeps what is written to it. */
export class Paper extends Writable {
  text = ""

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

export const say = (content: string, source = "writer"): TextMessage => TextMessage({ content, source })

export function taskResult(messages: readonly ChatItem[] = []): TaskResult {
  const usage = { promptTokens: 1200, completionTokens: 34 }
  return { type: "TaskResult", messages, stopReason: "writer answered.", stopKind: "answer", usage }
}

export async function* streamOf<Item>(...items: readonly Item[]): AsyncGenerator<Item, undefined, undefined> {
  for (const item of items) yield await Promise.resolve(item)
  return undefined
}

/** What a Console writes for these items, without the end. */
export async function written(items: readonly ChatItem[], options: ConsoleOptions): Promise<string> {
  const output = new Paper()
  const stream = streamOf<ChatItem | TaskResult | Response>(...items, taskResult(items))
  await Console(stream, { output, outputStats: false, ...options })
  return output.text.replace(options.colors === true ? /\n[^\n]+\n$/ : /^= stopped .*\n$/m, "")
}

/** The same as a person reads it, without colours. */
export async function seen(...items: readonly ChatItem[]): Promise<string> {
  return withoutColors(await written(items, { colors: true }))
}

/** The same as a program reads it. */
export async function piped(...items: readonly ChatItem[]): Promise<string> {
  return written(items, { colors: false })
}

export function withoutColors(text: string): string {
  return text.replace(SGR, "")
}

export const lines = (...all: readonly (string | readonly string[])[]): string =>
  all
    .flat()
    .map((line) => `${line}\n`)
    .join("")

export const codeRun = (fields: Partial<CodeRun> = {}): CodeRun => ({
  exitCode: 0,
  output: "",
  termination: "exit",
  truncated: false,
  durationMs: 88,
  artifacts: [],
  denials: [],
  sandbox: { kind: "docker", policySha256: "" },
  ...fields,
})
