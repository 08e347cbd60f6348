import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeAll, describe, expect, test } from "vitest"

const script = fileURLToPath(new URL("engine", import.meta.url))
const isRoot = process.getuid?.() === 0
// Set by scripts/test-all on a machine that can have no engine; its summary says what did not run.
const hasEngine = process.env["GLOVEBOX_TEST_DOCKER"] !== "unavailable"
const image = "glovebox/sandbox:py3"
const walled = [
  "--network",
  "none",
  "--read-only",
  "--cap-drop",
  "ALL",
  "--security-opt",
  "no-new-privileges",
]

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Options {
  readonly env?: Record<string, string>
  readonly uid?: number
  readonly script?: string
}

interface Result {
  readonly dockerHost: string
  readonly serverVersion: string
  readonly image: string | null
  readonly imageId: string | null
  readonly started: boolean
  readonly built: boolean
}

// Settings of the caller must not decide what these tests look at.
const ownEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("GLOVEBOX_")),
)
const { DOCKER_HOST: _host, DOCKER_CONTEXT: _context, ...elsewhereEnv } = ownEnv

async function run(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  uid?: number,
): Promise<Ran> {
  const child = spawn(command, args, {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  let stdout = ""
  let stderr = ""
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  // "close" and not "exit": an engine that kept these streams open would be found here.
  const [code] = (await once(child, "close")) as [number | null]
  return { code, stdout, stderr }
}

/** The script with the caller's own choice of engine. */
function engine(...args: string[]): Promise<Ran> {
  return run(script, args, ownEnv)
}

function engineWith(options: Options, ...args: string[]): Promise<Ran> {
  return run(options.script ?? script, args, { ...elsewhereEnv, ...options.env }, options.uid)
}

function succeeded(ran: Ran): Ran {
  if (ran.code !== 0) throw new Error(`exit status ${ran.code}: ${ran.stderr}`)
  return ran
}

function parsed(ran: Ran): Result {
  succeeded(ran)
  return JSON.parse(ran.stdout.trim().split("\n").at(-1) ?? "") as Result
}

const cleanups: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

function temporaryFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gb-engine-"))
  cleanups.push(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A folder for an engine of the test's own, which is stopped at the test's end. */
function ownEngine(): { folder: string; env: Record<string, string> } {
  const folder = path.join(temporaryFolder(), "state")
  const env = { GLOVEBOX_ENGINE_STATE: folder }
  cleanups.push(async () => {
    await engineWith({ env }, "stop")
  })
  return { folder, env }
}

function ownProcess(): ChildProcess & { pid: number } {
  const child = spawn("sleep", ["300"], { stdio: "ignore" })
  cleanups.push(() => {
    child.kill("SIGKILL")
  })
  expect(child.pid).toBeDefined()
  return child as ChildProcess & { pid: number }
}

function readPid(file: string): number {
  return Number.parseInt(fs.readFileSync(file, "utf8"), 10)
}

function alive(pid: number): boolean {
  try {
    // A zombie has ended, whoever has yet to take note of it.
    return !/^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return false
  }
}

async function killHard(...pids: number[]): Promise<void> {
  for (const pid of pids) {
    if (alive(pid)) process.kill(pid, "SIGKILL")
  }
  await expect.poll(() => pids.some(alive), { timeout: 5_000 }).toBe(false)
}

async function listen(socket: string): Promise<net.Server> {
  const server = net.createServer(() => {})
  const open = new Set<net.Socket>()
  server.on("connection", (connection) => {
    open.add(connection)
    connection.on("error", () => {})
  })
  server.listen(socket)
  await once(server, "listening")
  cleanups.push(() => {
    for (const connection of open) connection.destroy()
    server.close()
  })
  return server
}

let main: Result
let bridge: boolean
let mainPid: number | undefined

const docker = (...args: string[]) => run("docker", args, { ...ownEnv, DOCKER_HOST: main.dockerHost })

beforeAll(async () => {
  if (!hasEngine) return
  main = parsed(await engine("--json"))
  bridge = fs.existsSync("/sys/class/net/docker0")
  mainPid = fs.existsSync("/var/run/docker.pid") ? readPid("/var/run/docker.pid") : undefined
})

const sandbox = (...command: string[]) => docker("run", "--rm", ...walled, image, ...command)

describe.skipIf(!hasEngine)("finding", () => {
  test("an engine and an image that are there are found again, silently", async () => {
    const again = await engine("--json")
    expect(parsed(again)).toEqual({ ...main, started: false, built: false })
    expect(again.stderr).toBe("")
    expect(main).toMatchObject({ image, imageId: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string })
    expect(main.serverVersion).toMatch(/^\d+\./)
    const plain = await engine()
    expect(plain.stdout).toBe(`DOCKER_HOST=${main.dockerHost}  image=${image}\n`)
    expect(parsed(await engine("--json", "--no-image"))).toMatchObject({ image: null, imageId: null })
  })

  test("wrong usage is told from what cannot work", async () => {
    for (const args of [
      ["--bogus"],
      ["--image"],
      ["--image", "a b"],
      ["--image="],
      ["--check", "--rebuild"],
      ["start"],
    ]) {
      const ran = await engine(...args)
      expect({ ...ran, args }).toMatchObject({ args, code: 2, stdout: "" })
      expect(ran.stderr).toContain("scripts/engine --help")
    }
    const conflict = await engineWith({
      env: { GLOVEBOX_ENGINE_STATE: "/tmp/a", DOCKER_HOST: "unix:///tmp/b.sock" },
    })
    expect(conflict.code).toBe(2)
    const help = await engine("--help")
    expect(help).toMatchObject({ code: 0, stderr: "" })
    expect(help.stdout).toContain("--no-image")
  })

  test("an explicit DOCKER_HOST or DOCKER_CONTEXT without an answer is an error, not a reason to take another", async () => {
    const nowhere = path.join(temporaryFolder(), "none.sock")
    for (const host of [`unix://${nowhere}`, "tcp://127.0.0.1:1"]) {
      const ran = await engineWith({ env: { DOCKER_HOST: host } }, "--json")
      expect(ran).toMatchObject({ code: 1, stdout: "" })
      expect(ran.stderr).toContain("DOCKER_HOST is set")
      expect(ran.stderr).toContain(host)
    }
    const context = await engineWith({ env: { DOCKER_CONTEXT: "glovebox-no-such-context" } })
    expect(context).toMatchObject({ code: 1, stdout: "" })
    expect(context.stderr).toContain("glovebox-no-such-context")
  })

  test("the context of the docker configuration is found, and one that does not answer is passed over aloud", async () => {
    const config = temporaryFolder()
    const env = { ...elsewhereEnv, DOCKER_CONFIG: config }
    const made = await run(
      "docker",
      ["context", "create", "here", "--docker", `host=${main.dockerHost}`],
      env,
    )
    succeeded(made)
    await run("docker", ["context", "create", "gone", "--docker", `host=unix://${config}/gone.sock`], env)
    await run("docker", ["context", "use", "here"], env)
    const here = await engineWith({ env: { DOCKER_CONFIG: config } }, "--json")
    expect(parsed(here).dockerHost).toBe(main.dockerHost)
    expect(here.stderr).toBe("")
    await run("docker", ["context", "use", "gone"], env)
    const gone = await engineWith({ env: { DOCKER_CONFIG: config } }, "--check", "--no-image")
    expect(gone.stderr).toContain("context gone")
  })

  test("a socket that accepts and never answers does not hang it, and is not taken away from its owner", async () => {
    const { folder, env } = ownEngine()
    fs.mkdirSync(folder)
    const socket = path.join(folder, "docker.sock")
    const server = await listen(socket)
    const bound = { GLOVEBOX_ENGINE_PROBE_SECONDS: "1" }
    const explicit = await engineWith({ env: { ...bound, DOCKER_HOST: `unix://${socket}` } })
    expect(explicit).toMatchObject({ code: 1, stdout: "" })
    expect(explicit.stderr).toContain("no answer within 1 s")
    const own = await engineWith({ env: { ...bound, ...env } }, "--no-image")
    expect(own).toMatchObject({ code: 1, stdout: "" })
    expect(own.stderr).toContain("no answer within 1 s")
    expect(server.listening && fs.existsSync(socket)).toBe(true)
  }, 20_000)

  test("a named image that is neither there nor to be had is an error that names it", async () => {
    const name = "127.0.0.1:1/glovebox/none:x"
    const ran = await engine("--image", name, "--json")
    expect(ran).toMatchObject({ code: 1, stdout: "" })
    expect(ran.stderr).toContain(name)
    expect(ran.stderr).toContain(image)
    const mine = `glovebox-test/named:${process.pid}`
    await docker("tag", image, mine)
    cleanups.push(async () => void (await docker("rmi", mine)))
    expect(parsed(await engine("--image", mine, "--json"))).toMatchObject({
      image: mine,
      imageId: main.imageId,
    })
  })

  test("--check only looks", async () => {
    const { folder, env } = ownEngine()
    const missing = await engineWith({ env }, "--check")
    expect(missing).toMatchObject({ code: 1, stdout: "" })
    expect(missing.stderr).toContain("no Docker engine answers")
    expect(fs.existsSync(folder)).toBe(false)
    // Images of the same moment come in any order.
    const images = async (): Promise<string[]> =>
      (await docker("images", "-aq", "--no-trunc")).stdout.split("\n").toSorted()
    const before = await images()
    const absent = await engine("--check", "--image", "127.0.0.1:1/glovebox/none:x")
    expect(absent.code).toBe(1)
    expect(absent.stderr).toContain("127.0.0.1:1/glovebox/none:x")
    expect(parsed(await engine("--check", "--json"))).toMatchObject({ started: false, built: false })
    expect(await images()).toEqual(before)
  })
})

describe.skipIf(!hasEngine)("the image", () => {
  test("has the whole standard library, for user 65532, read-only and without a network", async () => {
    const code = `
import json, ssl, sqlite3, ctypes, ctypes.util, asyncio, multiprocessing, zoneinfo, os, pwd, sys
print(json.dumps({
  "uid": os.getuid(), "gid": os.getgid(), "name": pwd.getpwuid(os.getuid()).pw_name, "home": os.path.expanduser("~"),
  "cwd": os.getcwd(), "lang": os.environ["LANG"], "bytecode": sys.dont_write_bytecode, "encoding": sys.stdout.encoding,
  "version": sys.version_info[0], "compiled": os.path.exists(json.__cached__), "libc": bool(ctypes.util.find_library("c")),
  "certificates": len(ssl.create_default_context().get_ca_certs()) > 50, "interfaces": os.listdir("/sys/class/net"),
  "zone": str(zoneinfo.ZoneInfo("Asia/Tokyo")), "sum": sqlite3.connect(":memory:").execute("select 40 + 2").fetchone()[0],
}))`
    const ran = await sandbox("python3", "-c", code)
    succeeded(ran)
    expect(JSON.parse(ran.stdout)).toEqual({
      uid: 65532,
      gid: 65532,
      name: "sandbox",
      home: "/workspace",
      cwd: "/workspace",
      lang: "C.UTF-8",
      bytecode: true,
      encoding: "utf-8",
      version: 3,
      compiled: true,
      libc: true,
      certificates: true,
      interfaces: ["lo"],
      zone: "Asia/Tokyo",
      sum: 42,
    })
  })

  test("pip installs a package into the user's folder, or into a named one", async () => {
    const code = `
import subprocess, zipfile
with zipfile.ZipFile("/tmp/demo-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("demo.py", "answer = 42")
    wheel.writestr("demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n")
    wheel.writestr("demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("demo-1.0.dist-info/RECORD", "demo.py,,\\n")
def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
run("pip", "install", "--no-index", "/tmp/demo-1.0-py3-none-any.whl")
print(subprocess.run(["python3", "-c", "import demo; print(demo.answer, demo.__file__)"], check=True, capture_output=True, text=True).stdout, end="")
run("python3", "-m", "pip", "install", "--no-index", "--target", "/tmp/there", "/tmp/demo-1.0-py3-none-any.whl")
run("ls", "/tmp/there/demo.py")`
    const ran = await docker(
      "run",
      "--rm",
      ...walled,
      "--tmpfs",
      "/tmp",
      "--tmpfs",
      "/workspace:uid=65532,gid=65532",
      image,
      "python3",
      "-c",
      code,
    )
    succeeded(ran)
    expect(ran.stdout).toMatch(/^42 \/workspace\/\.local\/lib\/python3\.\d+\/site-packages\/demo\.py\n$/)
  })

  test("has the tools that scripts expect, and nothing that gains rights", async () => {
    const tools =
      "python python3 pip pip3 bash sh tar ps timeout ls cat grep sed awk find xargs sort gzip id env mktemp sleep kill wc"
    const ran = await sandbox(
      "bash",
      "-c",
      `for tool in ${tools}; do command -v $tool >/dev/null || echo missing $tool; done; timeout 1 sleep 5; echo $?`,
    )
    expect(ran.stdout).toBe("143\n")
    const asRoot = await docker(
      "run",
      "--rm",
      ...walled,
      "--user",
      "0",
      image,
      "sh",
      "-c",
      "find / -xdev -perm /6000; find / -xdev ! -type l -perm -2 ! -path /tmp ! -path /var/tmp; find / -xdev ! -user 0; stat -c %a /tmp; grep -c localhost /etc/hosts; grep nobody /etc/passwd",
    )
    expect(asRoot.stdout.trim().split("\n")).toEqual([
      "/workspace",
      "1777",
      "2",
      "nobody:x:65534:65534:nobody:/nonexistent:/bin/false",
    ])
    const inspected = await docker(
      "image",
      "inspect",
      "--format",
      '{{.Size}} {{index .Config.Labels "org.glovebox.recipe"}} {{json .Config.Cmd}} {{.Config.User}}',
      image,
    )
    const [size, recipe, command, user] = inspected.stdout.trim().split(" ")
    expect(Number(size)).toBeLessThan(80_000_000)
    expect([command, user]).toEqual(['["python3"]', "65532:65532"])
    expect(recipe).toMatch(/^[0-9a-f]{16}$/)
  })
})

describe.skipIf(!isRoot || !hasEngine)("starting (needs root)", () => {
  test("twice at once on a new folder gives one engine, which keeps neither lock nor environment", async () => {
    const { folder, env } = ownEngine()
    const both = await Promise.all(
      [1, 2].map(() => engineWith({ env: { ...env, SECRET: "hunter2" } }, "--json", "--no-image")),
    )
    expect(both.filter((ran) => parsed(ran).started)).toHaveLength(1)
    expect(both.map((ran) => parsed(ran).dockerHost)).toEqual(
      [1, 2].map(() => `unix://${folder}/docker.sock`),
    )
    const pid = readPid(path.join(folder, "docker.pid"))
    expect(alive(pid)).toBe(true)
    expect((await run("flock", ["-n", path.join(folder, "lock"), "true"], ownEnv)).code).toBe(0)
    expect(fs.readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain("hunter2")

    const stopped = await engineWith({ env }, "stop", "--json")
    expect(stopped).toMatchObject({ code: 0, stdout: '{"stopped":true}\n' })
    expect(alive(pid)).toBe(false)
    expect(await engineWith({ env }, "stop", "--json")).toMatchObject({
      code: 0,
      stdout: '{"stopped":false}\n',
    })
  })

  test("an engine that was killed is followed by a new one, whatever its pid files name", async () => {
    const { folder, env } = ownEngine()
    const pidFiles = [path.join(folder, "docker.pid"), path.join(folder, "exec/containerd/containerd.pid")]
    parsed(await engineWith({ env }, "--json", "--no-image"))
    await killHard(...pidFiles.map(readPid))
    expect(fs.existsSync(path.join(folder, "docker.sock"))).toBe(true)
    expect(parsed(await engineWith({ env }, "--json", "--no-image")).started).toBe(true)

    await killHard(...pidFiles.map(readPid))
    const stranger = ownProcess()
    for (const file of pidFiles) fs.writeFileSync(file, String(stranger.pid))
    expect(parsed(await engineWith({ env }, "--json", "--no-image")).started).toBe(true)
    expect(alive(stranger.pid)).toBe(true)
    expect(pidFiles.map(readPid)).not.toContain(stranger.pid)
    expect(parsed(await engineWith({ env }, "--json", "--no-image")).started).toBe(false)
  })

  test("stop ends nothing that this script did not start", async () => {
    const { folder, env } = ownEngine()
    const stranger = ownProcess()
    fs.mkdirSync(folder)
    const started = fs.readFileSync(`/proc/${stranger.pid}/stat`, "utf8").split(") ")[1]?.split(" ")[19]
    fs.writeFileSync(
      path.join(folder, "started"),
      `dockerd ${stranger.pid} ${started}\ndockerd ${mainPid ?? 1} 1\n`,
    )
    expect(await engineWith({ env }, "stop", "--json")).toMatchObject({
      code: 0,
      stdout: '{"stopped":false}\n',
    })
    expect(alive(stranger.pid)).toBe(true)
  })

  test("a dockerd that ends at once is tried again by what its log says, or its log is shown", async () => {
    const { env } = ownEngine()
    const bin = temporaryFolder()
    const fake = (text: string) =>
      fs.writeFileSync(path.join(bin, "dockerd"), `#!/bin/bash\n${text}`, { mode: 0o755 })
    const withFake = { ...env, PATH: `${bin}:${process.env["PATH"]}` }
    fake("echo 'the moon is in the wrong phase'; exit 1")
    const failed = await engineWith({ env: withFake }, "--json", "--no-image")
    expect(failed).toMatchObject({ code: 1, stdout: "" })
    expect(failed.stderr).toContain("wrong phase")

    fake(`case "$*" in *--storage-driver=vfs*) PATH=\${PATH#*:} exec dockerd "$@" ;; esac
      echo 'failed to start daemon: error initializing graphdriver: driver not supported'; exit 1`)
    const result = parsed(await engineWith({ env: withFake }, "--json", "--no-image"))
    expect(result.started).toBe(true)
    const info = await run("docker", ["info", "--format", "{{.Driver}}"], {
      ...ownEnv,
      DOCKER_HOST: result.dockerHost,
    })
    expect(info.stdout).toBe("vfs\n")
  })

  test("the image is built once, kept, and built again when what was kept is broken", async () => {
    const { env: engineEnv } = ownEngine()
    const cache = temporaryFolder()
    const images = path.join(cache, "images")
    const env = { ...engineEnv, GLOVEBOX_CACHE_DIR: cache }
    const host = parsed(await engineWith({ env }, "--json", "--no-image")).dockerHost
    const kept = () => (fs.existsSync(images) ? fs.readdirSync(images) : [])
    const forget = () => run("docker", ["rmi", image], { ...ownEnv, DOCKER_HOST: host })

    const killed = spawn(script, ["--quiet"], {
      env: { ...elsewhereEnv, ...env },
      stdio: "ignore",
      detached: true,
    })
    await expect.poll(() => kept().some((name) => name.startsWith("build.")), { timeout: 20_000 }).toBe(true)
    process.kill(-(killed.pid ?? Number.NaN), "SIGKILL")
    await once(killed, "exit")
    expect(kept().filter((name) => name.endsWith(".tar"))).toEqual([])

    expect(parsed(await engineWith({ env }, "--json"))).toMatchObject({ started: false, built: true, image })
    const tarballs = kept().filter((name) => name !== "lock")
    expect(tarballs).toEqual([expect.stringMatching(/^[0-9a-f]{16}-.*\.tar$/)])

    await forget()
    const cached = await engineWith({ env }, "--json")
    expect(parsed(cached).built).toBe(true)
    expect(cached.stderr).toContain("built earlier")

    await forget()
    fs.truncateSync(path.join(images, tarballs[0] ?? ""), 1_000_000)
    const rebuilt = await engineWith({ env }, "--json")
    expect(parsed(rebuilt).built).toBe(true)
    expect(rebuilt.stderr).not.toContain("built earlier")
  })

  test("who may not use the engine, or may not start one, is told exactly that", async () => {
    const nobody = 65534
    const folder = temporaryFolder()
    fs.chmodSync(folder, 0o755)
    // A copy, as the checkout itself may be in a folder that is closed to others.
    const copy = path.join(folder, "engine")
    fs.cpSync(script, copy)
    fs.cpSync(`${script}.d`, `${copy}.d`, { recursive: true })
    const socket = path.join(folder, "docker.sock")
    await listen(socket)
    fs.chmodSync(socket, 0o660)
    const common = { HOME: "/nonexistent", XDG_RUNTIME_DIR: folder, GLOVEBOX_ENGINE_PROBE_SECONDS: "1" }
    const denied = await engineWith({
      uid: nobody,
      script: copy,
      env: { ...common, DOCKER_HOST: `unix://${socket}` },
    })
    expect(denied).toMatchObject({ code: 1, stdout: "" })
    expect(denied.stderr).toMatch(/permission denied: user nobody .*docker\.sock/)
    expect(denied.stderr).toContain("docker group")

    const runtime = path.join(folder, "runtime")
    fs.mkdirSync(runtime)
    fs.chownSync(runtime, nobody, nobody)
    const none = { ...common, XDG_RUNTIME_DIR: runtime, GLOVEBOX_ENGINE_STATE: path.join(folder, "none") }
    const unable = await engineWith({ uid: nobody, script: copy, env: none })
    expect(unable).toMatchObject({ code: 1, stdout: "" })
    expect(unable.stderr).toContain("no Docker engine answers")
    expect(unable.stderr).toContain("needs root")
  })

  test("root on another system without an engine is told what to do", async () => {
    const { env } = ownEngine()
    const release = path.join(temporaryFolder(), "os-release")
    fs.writeFileSync(release, 'ID=other\nPRETTY_NAME="Other Linux 1"\n')
    const inner =
      'mount --bind "$1" /etc/os-release && mount --bind /dev/null "$(PATH=$PATH:/usr/sbin command -v dockerd)" && exec "$2"'
    const ran = await run("unshare", ["--mount", "bash", "-c", inner, "bash", release, script], {
      ...elsewhereEnv,
      ...env,
    })
    expect(ran).toMatchObject({ code: 1, stdout: "" })
    expect(ran.stderr).toContain("Other Linux 1")
    expect(ran.stderr).toContain("DOCKER_HOST")
  })
})

// Last, as it is about what all the others left behind.
test("the machine's own engine is as it was: same process, same bridge, still answering", async () => {
  expect(fs.existsSync("/sys/class/net/docker0")).toBe(bridge)
  expect(fs.existsSync("/var/run/docker.pid") ? readPid("/var/run/docker.pid") : undefined).toBe(mainPid)
  expect(parsed(await engine("--check", "--json")).imageId).toBe(main.imageId)
})
