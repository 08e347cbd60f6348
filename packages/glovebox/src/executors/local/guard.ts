import { type ChildProcess, spawn } from "node:child_process"
import type { Writable } from "node:stream"

// Reads which groups run; when whoever tells it is gone, it ends them and removes the folders it was given.
const SCRIPT = `groups=
while read -r word pid; do
  rest=
  for group in $groups; do [ "$group" = "$pid" ] || rest="$rest $group"; done
  groups=$rest
  case $word in watch) groups="$groups $pid" ;; done) exit ;; esac
done
for group in $groups; do kill -9 "-$group"; done
[ $# = 0 ] || rm -rf -- "$@"`

/** Ends what runs when this process dies, however it dies; a process on the host has nobody else to do so. */
export class Guard {
  readonly #child: ChildProcess | undefined
  readonly #input: Writable | undefined

  /** @param folders to remove when this process dies */
  constructor(folders: readonly string[]) {
    if (process.platform === "win32") return
    const child = spawn("/bin/sh", ["-c", SCRIPT, "sh", ...folders], {
      cwd: "/",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
      // In a session of its own: what ends this process from the terminal must not end it too.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    })
    child.on("error", () => {})
    child.stdin.on("error", () => {})
    child.unref()
    ;(child.stdin as Writable & { unref?: () => void }).unref?.()
    this.#child = child
    this.#input = child.stdin
  }

  watch(pid: number): void {
    this.#input?.write(`watch ${pid}\n`)
  }

  forget(pid: number): void {
    this.#input?.write(`forget ${pid}\n`)
  }

  /** Nothing is left to end; it leaves. */
  async close(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
    const left = new Promise((resolve) => child.once("exit", resolve))
    child.ref()
    this.#input?.end("done 0\n")
    await left
  }
}
