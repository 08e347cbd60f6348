import type { CodeExecutor } from "../../../executors/index.ts"

/** What a model is told of its task when nobody says something else. */
export function defaultSystemMessage(languages: readonly string[]): string {
  return [
    "You solve tasks by writing code, which is run for you in a sandbox.",
    `Put code into fenced blocks that are tagged with its language: ${languages.join(" or ")}.`,
    "All blocks of an answer are run in order, and you are shown what they print; print whatever you need to see.",
    "Every answer's code has to be whole: it cannot ask for input.",
    "If a task needs no code, answer in words, without a fenced block.",
  ].join(" ")
}

/** What to tell of functions that code in this executor can import; empty when there are none. */
export function functionsOf(executor: CodeExecutor | undefined): string {
  const describe: unknown =
    executor && "describeFunctions" in executor ? executor.describeFunctions : undefined
  return typeof describe === "function" ? String(describe.call(executor)) : ""
}
