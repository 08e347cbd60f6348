import type { ChildProcess } from "node:child_process"
import type { Writable } from "node:stream"
import { startProcess } from "./start-process.ts"

// Reads which groups run, each with the name of its cgroup; when whoever tells it is gone, it ends and removes all.
const SCRIPT = `groups=
while read -r word group name; do
  rest=
  for entry in $groups; do [ "\${entry%%/*}" = "$group" ] || rest="$rest $entry"; done
  groups=$rest
  case $word in watch) groups="$groups $group/$name" ;; done) exit ;; esac
done
for entry in $groups; do kill -9 "-\${entry%%/*}"; done
for given; do
  case $given in
  folder:*) rm -rf -- "\${given#folder:}" ;;
  cgroup:*)
    for entry in $groups; do
      folder=\${given#cgroup:}/\${entry#*/}
      [ -n "\${entry#*/}" ] || continue
      tries=0
      while [ -d "$folder" ] && ! rmdir "$folder" && [ $tries -lt 100 ]; do
        while read -r pid; do [ "$pid" = 0 ] || kill -9 "$pid"; done <"$folder/cgroup.procs"
        tries=$((tries + 1))
        sleep 0.02
      done
    done ;;
  esac
done`

export interface GuardOptions {
  /** To remove when this process dies. */
  readonly folders?: readonly string[] | undefined
  /** Where the cgroups of the watched are, by their names. */
  readonly cgroups?: readonly string[] | undefined
}

/** Ends what runs when this process dies, however it dies: nobody else does so for all of it. */
export class Guard {
  readonly #child: ChildProcess | undefined
  readonly #input: Writable | undefined

  constructor({ folders = [], cgroups = [] }: GuardOptions) {
    if (process.platform === "win32") return
    const given = [...folders.map((path) => `folder:${path}`), ...cgroups.map((path) => `cgroup:${path}`)]
    const child = startProcess("/bin/sh", ["-c", SCRIPT, "sh", ...given], {
      cwd: "/",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
      // In a session of its own: what ends this process from the terminal must not end it too.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    })
    const input = child.stdin as Writable & { unref?: () => void }
    input.on("error", () => {})
    child.unref()
    input.unref?.()
    this.#child = child
    this.#input = input
  }

  /** @param cgroup the name of the group's cgroup, if it has one */
  watch(group: number, cgroup = ""): void {
    this.#input?.write(`watch ${group} ${cgroup}\n`)
  }

  forget(group: number): void {
    this.#input?.write(`forget ${group}\n`)
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
