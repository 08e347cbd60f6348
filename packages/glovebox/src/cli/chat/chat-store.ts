import { randomBytes } from "node:crypto"
import { lstat, readFile, readdir, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { z } from "zod"
import { GloveboxError, type JsonObject } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"

const VERSION = 1
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/

const savedSchema = z.object({
  version: z.literal(VERSION),
  savedAt: z.iso.datetime(),
  model: z.string(),
  /** How its model runs code: a conversation of one kind is not understood by the other. */
  kind: z.enum(["tools", "fences"]),
  turns: z.array(z.object({ task: z.string(), answer: z.string() })).readonly(),
  state: z.record(z.string(), z.json()),
})

/** A chat as it is kept. */
export interface SavedChat extends Omit<z.output<typeof savedSchema>, "state"> {
  readonly state: JsonObject
}

/** The chats of a project, one file for each. */
export class ChatStore {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  fileOf(name: string): string {
    return join(this.#folder, `${checkName(name)}.json`)
  }

  /** Says who has it open. */
  lockOf(name: string): string {
    return join(this.#folder, `${checkName(name)}.lock`)
  }

  /** @throws STATE_INVALID for a file that this release cannot read */
  async load(name: string): Promise<SavedChat | undefined> {
    const file = this.fileOf(name)
    const found = await lstat(file).catch(() => undefined)
    if (!found) return undefined
    try {
      // A pipe would never end.
      if (!found.isFile()) throw new Error("it is no file")
      return savedSchema.parse(JSON.parse(await readFile(file, "utf8")))
    } catch (cause) {
      throw new GloveboxError(
        "STATE_INVALID",
        `${file} is no chat that can be gone on with: ${errorMessage(cause).split("\n")[0] ?? ""}. Begin another: glovebox chat --new`,
        { cause },
      )
    }
  }

  /** In one step: whoever is killed in the middle leaves the last one whole. */
  async save(name: string, chat: Omit<SavedChat, "version" | "savedAt">): Promise<void> {
    const file = this.fileOf(name)
    const temporary = `${file}.${randomBytes(6).toString("hex")}`
    const saved: SavedChat = { version: VERSION, savedAt: new Date().toISOString(), ...chat }
    try {
      await writeFile(temporary, `${JSON.stringify(saved)}\n`, { mode: 0o600, flag: "wx" })
      await rename(temporary, file)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }

  /** The last one first; a file that cannot be read is passed over. */
  async list(): Promise<readonly { readonly name: string; readonly chat: SavedChat }[]> {
    const names = (await readdir(this.#folder).catch(() => []))
      .filter((file) => file.endsWith(".json"))
      .map((file) => file.slice(0, -".json".length))
      .filter((name) => NAME.test(name))
    const chats = await Promise.all(
      names.map(async (name) => ({ name, chat: await this.load(name).catch(() => undefined) })),
    )
    return chats
      .flatMap(({ name, chat }) => (chat ? [{ name, chat }] : []))
      .toSorted((a, b) => b.chat.savedAt.localeCompare(a.chat.savedAt))
  }

  /** A name that no chat has. */
  async freeName(): Promise<string> {
    const taken = new Set(await readdir(this.#folder).catch(() => []))
    for (let count = 1; ; count += 1) {
      const name = `chat-${count}`
      if (![`${name}.json`, `${name}.lock`, name].some((file) => taken.has(file))) return name
    }
  }
}

function checkName(name: string): string {
  if (NAME.test(name)) return name
  throw new CommandFailure(
    `${JSON.stringify(name)} is no name for a session. Use letters, digits, "_" and "-".`,
    { exitCode: EXIT_USAGE },
  )
}
