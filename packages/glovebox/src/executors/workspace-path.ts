import { GloveboxError } from "../core/index.ts"
import { describe } from "../internal/describe.ts"

const MAX_BYTES = 1024
const MAX_PART_BYTES = 255
const MAX_DEPTH = 32

// Controls, line separators, halves of characters, and marks that make a name read other than it is.
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u

/** A file's path below the workspace, without `.` and empty parts; CODE_FILE_REFUSED for any other path. */
export function workspacePath(name: string): string {
  const reason = typeof name === "string" ? problemOf(name) : "it is not a string"
  if (reason !== undefined) throw refused(name, reason)
  const parts = name.split("/").filter((part) => part !== "" && part !== ".")
  const partReason = problemOfParts(parts)
  if (partReason !== undefined) throw refused(name, partReason)
  return parts.join("/")
}

/** Whether a path below the workspace is one that it takes, written as it is kept. */
export function isWorkspacePath(path: string): boolean {
  try {
    return workspacePath(path) === path
  } catch {
    return false
  }
}

function problemOf(name: string): string | undefined {
  if (name.trim() === "") return "it is empty"
  if (Buffer.byteLength(name) > MAX_BYTES) return `it has more than ${MAX_BYTES} bytes`
  const unsafe = UNSAFE.exec(name)
  if (unsafe) return `it has the character ${codePoint(unsafe[0])}`
  if (/^(?:\/|\\\\|(?:\.\/+)*[A-Za-z]:)/.test(name)) return "it is absolute"
  if (name.includes("\\")) return "it has a backslash"
  if (/^[./]+$/.test(name) && !name.includes("..")) return "it is the workspace itself"
  return /(?:^|\/)\.?$/.test(name) ? "it is a folder" : undefined
}

function problemOfParts(parts: readonly string[]): string | undefined {
  if (parts.includes("..")) return "it has a .. in it"
  // Where commands keep the record of what code does, which is not for code to change.
  if (parts.some((part) => part.toLowerCase() === ".glovebox")) return "it is in a folder of Glovebox's own"
  if (parts.length > MAX_DEPTH) return `it is more than ${MAX_DEPTH} folders deep`
  const long = parts.some((part) => Buffer.byteLength(part) > MAX_PART_BYTES)
  return long ? `a part of it has more than ${MAX_PART_BYTES} bytes` : undefined
}

function refused(name: unknown, reason: string): GloveboxError {
  // JSON leaves some of these as they are, and they would rearrange the message.
  const shown = describe(name).replaceAll(new RegExp(UNSAFE, "gu"), codePoint)
  return new GloveboxError(
    "CODE_FILE_REFUSED",
    `The file name ${shown} is refused: ${reason}. Use a path below the workspace, such as "src/main.py".`,
  )
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`
}
