import { execFile } from "node:child_process"

/** Ends a process that leads a group, and everything in the group, at once. */
export function killGroup(pid: number): void {
  if (process.platform === "win32") {
    // There are no groups: this follows parents to their children instead.
    execFile("taskkill", ["/pid", String(pid), "/T", "/F"], () => {})
    return
  }
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // Nobody is left in it.
  }
}
