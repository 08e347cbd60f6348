import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"

const script = fileURLToPath(new URL("engine", import.meta.url))
const isRoot = process.getuid?.() === 0
const hasEngine = process.env["GLOVEBOX_TEST_DOCKER"] !== "unavailable"
const image = "glovebox/sandbox:py3"

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

// Settings of the caller must not decide what these tests look at.
const ownEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(GLOVEBOX_|DOCKER_(HOST|CONTEXT)$)/.test(name)),
)

async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] })
  let stdout = ""
  let stderr = ""
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  const [code] = (await once(child, "close")) as [number | null]
  return { code, stdout, stderr }
}

/** An engine of the test's own; `stop` ends it and removes its folder. */
function ownEngine() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gb-runsc-"))
  const state = path.join(folder, "state")
  const env = { ...ownEnv, GLOVEBOX_ENGINE_STATE: state }
  return {
    folder,
    state,
    engine: (...args: string[]) => run(script, args, env),
    docker: (...args: string[]) => run("docker", ["-H", `unix://${state}/docker.sock`, ...args], ownEnv),
    env,
    async stop() {
      await run(script, ["stop"], env)
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
}

describe.skipIf(!isRoot || !hasEngine)("an engine with gVisor (needs root)", () => {
  let own: ReturnType<typeof ownEngine>
  let warning: string | undefined

  beforeAll(async () => {
    own = ownEngine()
    const started = await own.engine("--json")
    if (started.code !== 0) throw new Error(started.stderr)
    warning = started.stderr.match(/warning: gVisor's runsc .*/)?.[0]
  }, 180_000)
  afterAll(() => own.stop())

  const runsc = (limits: readonly string[], name: string, ...command: string[]) =>
    own.docker(
      "run",
      "--name",
      name,
      "--runtime",
      "runsc",
      "--network",
      "none",
      "--read-only",
      "--cap-drop",
      "ALL",
      "--security-opt",
      "no-new-privileges",
      "--memory-swap",
      "128m",
      "--memory",
      "128m",
      ...limits,
      image,
      ...command,
    )
  const state = async (name: string) => {
    const inspected = await own.docker(
      "inspect",
      "--format",
      "{{.State.Status}} {{.State.ExitCode}} {{.State.OOMKilled}}",
      name,
    )
    return inspected.stdout.trim()
  }

  test("knows runsc, in a way in which limits hold, or its lack was told", async () => {
    const info = await own.docker("info", "--format", "{{json .Runtimes}}")
    const runtimes = JSON.parse(info.stdout) as Record<string, { path: string; runtimeArgs?: string[] }>
    const expected = warning === undefined ? ["--network=none"] : undefined
    expect(runtimes["runsc"]?.runtimeArgs).toEqual(expected)
    const told = (await own.engine("--check")).stderr.includes("does not know gVisor's runsc")
    expect(told).toBe(warning !== undefined)
  })

  test("runs Python on gVisor's kernel, with threads and loopback and no other interface", async (context) => {
    if (warning !== undefined) context.skip(warning)
    const code = `
import json, os, socket, threading
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: socket.create_connection(server.getsockname()).send(b"hello")).start()
kernel = open("/proc/version").read()
print(json.dumps([os.getuid(), server.accept()[0].recv(5).decode(), os.listdir("/sys/class/net"), os.uname().release in kernel]))
print(os.uname().release)`
    const ran = await runsc(["--pids-limit", "128"], "python", "python3", "-c", code)
    expect(ran).toMatchObject({ code: 0, stderr: "" })
    const [facts, release] = ran.stdout.trim().split("\n")
    expect(JSON.parse(facts ?? "")).toEqual([65532, "hello", ["lo"], true])
    expect(release).not.toBe(os.release())
  })

  test("holds the memory limit, and says that it was the memory", async (context) => {
    if (warning !== undefined) context.skip(warning)
    const code = `
held = []
while len(held) < 64:
    held.append(b"x" * 2**23)
    print(len(held) * 8, flush=True)`
    const ran = await runsc([], "memory", "python3", "-c", code)
    expect(Number(ran.stdout.trim().split("\n").at(-1))).toBeLessThan(128)
    expect(await state("memory")).toMatch(/^exited 137 /)
    // The flag is lost where this comes after the end; the event is not, and is what an executor listens for.
    const told = (): Promise<Ran> =>
      own.docker(
        "events",
        "--since",
        "10m",
        "--until",
        "0s",
        "--filter",
        "event=oom",
        "--format",
        "{{.Actor.Attributes.name}}",
      )
    await expect.poll(async () => (await told()).stdout, { timeout: 20_000 }).toBe("memory\n")
  })

  test("holds the limit of processes: the sandbox's by its ulimit, the host's by ending the sandbox", async (context) => {
    if (warning !== undefined) context.skip(warning)
    const code = `
import os, time
made = 0
try:
    while made < 100:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        made += 1
except BlockingIOError:
    pass
print("made", made, flush=True)
os._exit(0)`
    const ulimit = await runsc(
      ["--ulimit", "nproc=20:20", "--pids-limit", "512"],
      "ulimit",
      "python3",
      "-c",
      code,
    )
    expect(ulimit).toMatchObject({ code: 0, stdout: "made 19\n" })
    // One process in the sandbox is several tasks of the host, which all count.
    const host = await runsc(["--pids-limit", "64"], "host", "python3", "-c", code)
    expect(host.code).not.toBe(0)
    expect(host.stdout).not.toContain("made")
    expect(await state("host")).toBe("exited 2 false")
  })

  test("ends all of a sandbox at once", async (context) => {
    if (warning !== undefined) context.skip(warning)
    const started = await own.docker(
      "run",
      "-d",
      "--runtime",
      "runsc",
      "--network",
      "none",
      image,
      "bash",
      "-c",
      "trap '' TERM; (setsid sleep 300 &) ; sleep 300",
    )
    const id = started.stdout.trim()
    const left = async () => (await run("pgrep", ["-f", `^(runsc|exe).*${id}`], ownEnv)).stdout
    expect(await left()).not.toBe("")
    expect(await own.docker("rm", "-f", id)).toMatchObject({ code: 0 })
    expect(await left()).toBe("")
  })
})

describe.skipIf(!isRoot || !hasEngine)("an engine where gVisor cannot be had (needs root)", () => {
  test("starts without it and says so once", async () => {
    const own = ownEngine()
    try {
      // Both the program and its package are hidden, in a mount namespace that ends with the command.
      const fake = path.join(own.folder, "apt-cache")
      fs.writeFileSync(
        fake,
        "#!/bin/sh\ncase $2 in runsc) set '(none)' ;; *) set 1 ;; esac; echo \"  Candidate: $1\"\n",
        { mode: 0o755 },
      )
      const inner =
        'if program=$(command -v runsc); then mount --bind /dev/null "$program"; fi; mount --bind "$1" "$(command -v apt-cache)"; exec "$2" --no-image'
      const inNamespace = ["--mount", "bash", "-c", inner, "bash", fake, script]
      const started = await run("unshare", inNamespace, own.env)
      expect(started).toMatchObject({ code: 0, stdout: `DOCKER_HOST=unix://${own.state}/docker.sock\n` })
      expect(started.stderr.match(/warning: gVisor's runsc/g)).toHaveLength(1)
      const again = await run("unshare", inNamespace, own.env)
      expect(again).toMatchObject({ code: 0, stderr: "" })
      expect((await own.engine("--check", "--no-image")).stderr).toContain("does not know gVisor's runsc")
      const info = await own.docker("info", "--format", "{{json .Runtimes}}")
      expect(info.stdout).not.toContain("runsc")
    } finally {
      await own.stop()
    }
  })
})
