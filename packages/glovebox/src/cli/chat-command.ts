import { join, resolve } from "node:path"
import { Command } from "commander"
import { GloveboxError } from "../core/index.ts"
import { visibleLine } from "../internal/safe-text.ts"
import { ChatHistory } from "./chat/chat-history.ts"
import { ChatLock } from "./chat/chat-lock.ts"
import { ChatLoop } from "./chat/chat-loop.ts"
import { ChatSession } from "./chat/chat-session.ts"
import { chatTerminal } from "./chat/chat-terminal.ts"
import { ChatStore, type SavedChat } from "./chat/chat-store.ts"
import { checkPrivate, makePrivate, projectFolder } from "./project-folder.ts"
import { CommandFailure, EXIT_FAILED, EXIT_USAGE } from "./command-failure.ts"
import type { CommandOutput } from "./command-output.ts"
import { watchInterrupts } from "./interrupts.ts"
import { leftExitCode } from "./left-exit-code.ts"
import { ProgressLine } from "./progress-line.ts"
import { DEFAULT_TURNS, type JobOptions, withJobOptions } from "./run/job-options.ts"
import { type At, openJobExecutor, openJobModel, openRules, readConfig } from "./run/job-setup.ts"
import { ANSWERER, makeJob } from "./run/make-job.ts"

interface ChatOptions extends JobOptions {
  readonly session?: string
  readonly new?: true
  readonly list?: true
}

/** `glovebox chat`: a conversation with a model whose code runs in one sandbox, kept for the next time. */
export function chatCommand(output: CommandOutput): Command {
  const command = new Command("chat")
    .description(
      "Talk with a model that runs code. What was said and the files are kept in .glovebox/chat, and the next chat goes on there.",
    )
    .option("--session <name>", "which chat to go on with, or to begin (default: the last one)")
    .option("--new", "begin another")
    .option("--list", "print the chats of this project, and end")
  return withJobOptions(command)
    .addHelpText(
      "after",
      `
Ctrl-C cancels a turn, twice it ends the chat, as Ctrl-D does; /help tells the rest.
With input from a pipe each line is a turn, and the answers alone go to stdout.`,
    )
    .action(async (options: ChatOptions) => {
      using interrupts = watchInterrupts()
      const signal = AbortSignal.any([interrupts.signal, output.stdout.gone])
      try {
        using progress = new ProgressLine(output.stderr)
        await chat(options, { output, progress, signal })
      } catch (error) {
        if (!signal.aborted && !GloveboxError.is(error, "RUN_LEFT")) throw error
        output.exitCode = leftExitCode(interrupts, output)
      }
    })
}

async function chat(options: ChatOptions, at: At): Promise<void> {
  const { output, signal } = at
  const project = await projectFolder(process.cwd())
  if (options.list) {
    await checkPrivate(project)
    return list(new ChatStore(join(project, "chat")), output)
  }
  const folder = await makePrivate(project, "chat")
  const store = new ChatStore(folder)
  const name = await choose(options, store)
  await using _lock = await ChatLock.take(store.lockOf(name), name)
  const saved = await store.load(name)
  if (saved && options.new && options.session !== undefined) {
    throw new CommandFailure(
      `There is a chat ${name} already. Leave --new out to go on with it, or choose another name.`,
      { exitCode: EXIT_USAGE },
    )
  }
  const config = await readConfig(options, at)
  const isTerminal = process.stdin.isTTY && output.stdout.isTerminal
  let asks: ChatLoop | undefined
  const terminal = isTerminal
    ? chatTerminal(async (question, until) => asks?.ask(question, until))
    : undefined
  await using rules = await openRules({ command: "chat", options, config, terminal }, at)
  const { client, label } = await openJobModel(options, config, at)
  await using _closing = client
  const workDir = resolve(options.workDir ?? (await makePrivate(project, "chat", name)))
  await using executor = await openJobExecutor(options, config, { isolation: "session", workDir }, rules, at)
  // Last, because from here on Ctrl-C is a key of the chat.
  await using loop = await ChatLoop.open(new ChatHistory(folder, output.redaction), isTerminal, at)
  asks = loop
  const { governed, approval } = rules
  const { governance } = governed
  const { sandbox, what } = executor.describe()
  const prompt = {
    sandbox,
    policy: executor.policy,
    isolation: "session",
    files: [],
    systemMessage: config.system_message,
  } as const
  const job = makeJob({
    client,
    executor,
    prompt,
    maxTurns: options.maxTurns ?? config.max_turns ?? DEFAULT_TURNS,
    governance,
  })
  const session = new ChatSession({
    name,
    store,
    job,
    executor,
    governed,
    model: label,
    kind: client.modelInfo.functionCalling ? "tools" : "fences",
    files: workDir,
    redaction: output.redaction,
    view: {
      mode: isTerminal ? "all" : "answer",
      runs: () => executor.runs,
      hidesCode: (block) => approval.shows(governance.gate, ANSWERER, executor.policy, block),
    },
  })
  if (saved) await session.resume(saved)
  if (isTerminal) greet(name, saved, `${sandbox}: ${what}`, output)
  await loop.run(session)
  signal.throwIfAborted()
  if (!isTerminal && session.hasFailed) output.exitCode = EXIT_FAILED
}

async function choose({ session, new: isNew }: ChatOptions, store: ChatStore): Promise<string> {
  if (session !== undefined) return session
  const [last] = isNew ? [] : await store.list()
  return last?.name ?? store.freeName()
}

function greet(name: string, saved: SavedChat | undefined, sandbox: string, output: CommandOutput): void {
  const last = saved?.turns.at(-1)
  output.print(
    last
      ? `Going on with ${name}, after ${turnsOf(saved)}; the last was: ${firstLine(last.task)}`
      : `This is ${name}.`,
  )
  output.print(`Code runs in ${sandbox}. /help for help.`)
}

async function list(store: ChatStore, output: CommandOutput): Promise<void> {
  const chats = await store.list()
  if (chats.length === 0) output.note("there are no chats in this project yet")
  for (const { name, chat } of chats) {
    const last = chat.turns.at(-1)
    output.print(
      [
        name,
        chat.savedAt.slice(0, 16).replace("T", " "),
        visibleLine(chat.model),
        turnsOf(chat),
        last ? firstLine(last.task) : "",
      ]
        .join("  ")
        .trimEnd(),
    )
  }
}

function turnsOf(chat: SavedChat | undefined): string {
  const count = chat?.turns.length ?? 0
  return count === 1 ? "1 turn" : `${count} turns`
}

function firstLine(text: string): string {
  const line = visibleLine(text.trim().split("\n")[0] ?? "")
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}
