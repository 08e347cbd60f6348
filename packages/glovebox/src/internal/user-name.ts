import { userInfo } from "node:os"

/** Who runs this process; a user without an account, as containers have, goes by the number. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`
  }
}
