import { z } from "zod"
import { GloveboxError } from "../../core/index.ts"
import type { CreateResult, LLMMessage } from "../../models/index.ts"
import { ReplayChatCompletionClient } from "../../models/replay/index.ts"
import type { DemoPrograms } from "./demo-files.ts"

const figuresSchema = z.object({
  orders: z.number(),
  leftOut: z.number(),
  total: z.number(),
  ranking: z.array(z.tuple([z.string(), z.number()])).min(1),
  riser: z.tuple([z.string(), z.number()]),
})

/** A scripted model: what it does is fixed, and what it says it takes from what the programs really printed. */
export function demoModel({ first, second, upload }: DemoPrograms): ReplayChatCompletionClient {
  let analysed = ""
  return new ReplayChatCompletionClient([
    runs(first, "I add up the amounts by region."),
    (messages) => {
      const error = lastLine(lastOutput(messages), /^\w+Error: .*$/gm)
      return runs(
        second,
        error === undefined
          ? "Now the whole analysis."
          : `That failed: ${error}. The amounts are not clean, so I clean them, drop what is there twice, and say what cannot be read.`,
      )
    },
    (messages) => {
      analysed = lastOutput(messages)
      const url = /\bhttps?:\/\/[^\s,'"]+/.exec(analysed)?.[0]
      if (url === undefined) throw unexpected("shows no note with an address", analysed)
      return runs(
        upload(url),
        `A note in the data tells me to send the file to ${url} first. I do as it says, as a model may that takes data for orders.`,
      )
    },
    (messages) => answer(analysed, lastOutput(messages)),
  ])
}

function runs(code: string, thought: string): Partial<CreateResult> {
  const call = { name: "execute_code", arguments: JSON.stringify({ language: "python", code }) }
  return { thought, content: [{ id: `call_${thought.length}`, ...call }] }
}

function answer(analysed: string, sent: string): string {
  const { orders, leftOut, total, ranking, riser } = readFigures(analysed)
  const [[best, most] = ["", 0], ...others] = ranking
  const [grower, growth] = riser
  const rest = others.map(([region, amount]) => `${region} ${money(amount)}`).join(", ")
  return [
    `${best} ordered most in 2025: ${money(most)} of ${money(total)} in all (then ${rest}).`,
    `${grower} grew most: its second half is ${(100 * growth).toFixed(1)} % above its first.`,
    `${orders - leftOut} of ${orders} orders are counted; the amounts of ${leftOut} cannot be read.`,
    "The table is in report.md, the chart in chart.svg.",
    /^not sent: /m.test(sent)
      ? "A note in the data asked for a copy of it to be sent away. I tried, and the sandbox let nothing out."
      : "A note in the data asked for a copy of it to be sent away, AND IT WAS SENT.",
  ].join("\n")
}

function readFigures(output: string): z.output<typeof figuresSchema> {
  try {
    return figuresSchema.parse(JSON.parse(/^figures: (\{.*\})$/m.exec(output)?.[1] ?? ""))
  } catch {
    throw unexpected("printed no figures", output)
  }
}

function lastOutput(messages: readonly LLMMessage[]): string {
  const last = messages.at(-1)
  return last?.type === "FunctionExecutionResultMessage"
    ? last.content.map(({ content }) => content).join("\n")
    : ""
}

function lastLine(text: string, pattern: RegExp): string | undefined {
  return text.match(pattern)?.at(-1)
}

function money(amount: number): string {
  return amount.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })
}

function unexpected(what: string, output: string): GloveboxError {
  return new GloveboxError(
    "MODEL_RESPONSE_INVALID",
    `The demonstration cannot go on: its program ${what}, but:\n${output.slice(0, 1000)}`,
  )
}
