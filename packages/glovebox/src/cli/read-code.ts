import { createReadStream } from "node:fs"
import { addAbortSignal, type Readable } from "node:stream"
import { errorMessage } from "../internal/error-message.ts"
import { CommandFailure, EXIT_USAGE } from "./command-failure.ts"
import type { CodeText } from "./code-language.ts"

const MOST_BYTES = 16 * 1024 ** 2

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "permission is denied",
}

/** The code in the file, or on stdin for `-` and, where that is no terminal, for no file at all. */
export async function readCode(
  file: string | undefined,
  {
    stdin,
    signal,
  }: { readonly stdin: Readable & { readonly isTTY?: boolean }; readonly signal: AbortSignal },
): Promise<CodeText> {
  if (file !== undefined && file !== "-") {
    return { text: await readText(createReadStream(file), file, signal), name: file, path: file }
  }
  if (file === undefined && stdin.isTTY === true) {
    throw new CommandFailure("Nothing to run: name a file, or pipe the code in.", { exitCode: EXIT_USAGE })
  }
  return { text: await readText(stdin, "stdin", signal), name: "stdin" }
}

async function readText(stream: Readable, name: string, signal: AbortSignal): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of addAbortSignal(signal, stream)) {
      chunks.push(chunk as Uint8Array)
      bytes += (chunk as Uint8Array).length
      if (bytes > MOST_BYTES) throw new Error("it is larger than 16MiB")
    }
  } catch (cause) {
    signal.throwIfAborted()
    const code = (cause as NodeJS.ErrnoException).code ?? ""
    throw new CommandFailure(`${name} cannot be read: ${REASONS[code] ?? errorMessage(cause)}.`, { cause })
  }
  return decode(Buffer.concat(chunks), name)
}

function decode(bytes: Uint8Array, name: string): string {
  let text: string
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new CommandFailure(`${name} is not UTF-8 text.`, { cause })
  }
  if (text.trim() === "") throw new CommandFailure(`${name} is empty: there is nothing to run.`)
  return text
}
