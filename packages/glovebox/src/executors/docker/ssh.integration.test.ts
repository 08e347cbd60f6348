import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { appendFile, copyFile, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { type AddressInfo, connect, createServer } from "node:net"
import { tmpdir, userInfo } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { begin, rejectionOf, succeed, within } from "../../testing/expectations.ts"
import { programsIn } from "../../testing/programs.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { exists, madeBy } from "./docker-command.test-kit.ts"
import { BASE, HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"

const run = promisify(execFile)
const { print, printError, wait, write, show } = programsIn(["python"])
const MODULE = fileURLToPath(new URL("index.ts", import.meta.url))
const HOST = "ssh://gb-engine"
const [sshd, ssh, dockerProgram] = ["sshd", "ssh", "docker"].map(findProgram)

function findProgram(name: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"]
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

interface FoundProcess {
  readonly pid: number
  readonly parent: number
  readonly line: string
}

async function processes(): Promise<FoundProcess[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
  return Promise.all(
    pids.map(async (pid) => {
      const read = async (name: string): Promise<string> =>
        readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "")
      const [stat, line] = await Promise.all([read("stat"), read("cmdline")])
      const parent = Number(/\) \S+ (\d+)/.exec(stat)?.[1])
      return { pid: Number(pid), parent, line: line.replaceAll("\0", " ") }
    }),
  )
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1")
  try {
    await once(socket, "connect")
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

// The tests use the program from the PATH with a configuration of their own, and touch none of the user's.
describe.skipIf(HAS_NO_DOCKER || !sshd || !ssh || !dockerProgram)("an engine over ssh (needs sshd)", () => {
  let folder = ""
  let server: ChildProcess | undefined
  const path = process.env["PATH"]
  const file = (name: string): string => join(folder, name)
  const connections = async (): Promise<FoundProcess[]> =>
    (await processes()).filter(({ line }) => line.includes(`-F ${file("config")} `))
  const farSide = async (): Promise<FoundProcess[]> =>
    (await processes()).filter(({ parent }) => parent === server?.pid)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "gb-ssh-"))
    for (const name of ["host_key", "user_key", "other_key", "broken_key"]) {
      await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file(name)])
    }
    await copyFile(file("user_key.pub"), file("authorized_keys"))
    await appendFile(
      file("authorized_keys"),
      `command="no-such-docker" ${await readFile(file("broken_key.pub"), "utf8")}`,
    )
    await mkdir(file("bin"))
    // As root it does not start without this empty folder, which its package makes on boot only.
    if (process.getuid?.() === 0) await mkdir("/run/sshd", { recursive: true, mode: 0o755 })
    // A free port may be somebody else's a moment later.
    for (let tries = 1; !(await startsAt(await freePort())); tries += 1) {
      server = undefined
      if (tries === 3) throw new Error(`sshd does not start: ${await readFile(file("sshd.log"), "utf8")}`)
    }
    process.env["PATH"] = `${file("bin")}${delimiter}${path}`
  })

  async function startsAt(port: number): Promise<boolean> {
    const [type = "", key = ""] = (await readFile(file("host_key.pub"), "utf8")).split(" ")
    await writeFile(file("known_hosts"), `[127.0.0.1]:${port} ${type} ${key}\n`)
    await writeFile(file("no_hosts"), "")
    // The far side has the same engine as this one, wherever that is.
    const host = process.env["DOCKER_HOST"]
    const far = [
      `PATH=${dirname(dockerProgram ?? "")}:/usr/bin:/bin`,
      ...(host ? [`DOCKER_HOST=${host}`] : []),
    ]
    await writeFile(
      file("sshd_config"),
      `ListenAddress 127.0.0.1
Port ${port}
HostKey ${file("host_key")}
AuthorizedKeysFile ${file("authorized_keys")}
PidFile none
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
StrictModes no
PrintMotd no
PrintLastLog no
MaxStartups 100
SetEnv ${far.join(" ")}
`,
    )
    const client = (alias: string, userKey: string, hosts: string, at = port): string => `Host ${alias}
  HostName 127.0.0.1
  Port ${at}
  User ${userInfo().username}
  IdentityFile ${file(userKey)}
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile ${file(hosts)}
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
`
    await writeFile(
      file("config"),
      [
        client("gb-engine", "user_key", "known_hosts"),
        client("gb-stranger", "user_key", "no_hosts"),
        client("gb-refused", "other_key", "known_hosts"),
        client("gb-broken", "broken_key", "known_hosts"),
        client("gb-nobody", "user_key", "known_hosts", await freePort()),
      ].join("\n"),
    )
    await writeFile(file("bin/ssh"), `#!/bin/sh\nexec ${ssh} -F ${file("config")} "$@"\n`, { mode: 0o755 })
    const begun = spawn(sshd ?? "", ["-D", "-f", file("sshd_config"), "-E", file("sshd.log")], {
      stdio: "ignore",
    })
    server = begun
    await vi.waitUntil(async () => begun.exitCode !== null || (await answers(port)), { timeout: 60_000 })
    return begun.exitCode === null
  }

  afterAll(async () => {
    process.env["PATH"] = path
    if (server?.kill()) await once(server, "exit")
    await rm(folder, { recursive: true, force: true })
  })

  it("runs code, with its output and files, and takes an abort", async () => {
    await using executor = docker({ dockerHost: HOST })
    await succeed(executor, write("file", "over ssh"))
    const { stdout, stderr } = await succeed(executor, show("file"), printError("and that"))
    expect([stdout, stderr]).toEqual(["over ssh", "and that"])
    const large = `import os\nopen("large", "wb").write(os.urandom(1) * 3_000_000)\nprint("x" * 200_000)`
    const { artifacts, output } = await succeed(executor, { language: "python", code: large })
    expect([artifacts[0]?.path, artifacts[0]?.size, output.length]).toEqual(["large", 3_000_000, 200_001])
    const controller = new AbortController()
    const { result, spoke } = begin(executor, [wait("on")], { signal: controller.signal })
    const rejection = rejectionOf(result)
    await spoke
    const reason = new Error("enough")
    controller.abort(reason)
    expect(await rejection).toBe(reason)
  })

  it("leaves no connection, nothing on the far side and no container when it stops", async () => {
    const executor = docker({ dockerHost: HOST, pool: { size: 2 } })
    const made = madeBy(executor)
    await succeed(executor, print("x"))
    const running = begin(executor, [wait("on")])
    const rejection = rejectionOf(running.result)
    await running.spoke
    expect((await connections()).length).toBeGreaterThan(0)
    await within(executor.stop(), 20, "stop")
    await rejection
    expect(await Promise.all(made.map(exists))).not.toContain(true)
    await expect.poll(connections, { timeout: 10_000 }).toEqual([])
    await expect.poll(farSide, { timeout: 10_000 }).toEqual([])
  })

  it("that cannot be had is an error with ssh's own words, soon and again and again", async () => {
    for (const [alias, words] of [
      ["gb-stranger", /Host key verification failed/],
      ["gb-refused", /Permission denied/],
      ["gb-nobody", /Connection refused/],
      ["gb-broken", /no-such-docker/],
    ] as const) {
      await using executor = docker({ dockerHost: `ssh://${alias}` })
      for (let time = 0; time < 2; time += 1) {
        const call = executor.executeCodeBlocks([print("x")])
        const failure = await within(expectFailure(call, "ENGINE_UNAVAILABLE", words), 20, alias)
        expect(failure.message).toContain(`ssh://${alias}`)
      }
    }
    await expect.poll(connections, { timeout: 10_000 }).toEqual([])
  })

  it("without the program ssh is an error that says so", async () => {
    process.env["PATH"] = folder
    try {
      await using executor = docker({ dockerHost: HOST })
      await expectFailure(executor.start(), "ENGINE_UNAVAILABLE", /spawn ssh ENOENT/)
    } finally {
      process.env["PATH"] = `${file("bin")}${delimiter}${path}`
    }
  })

  it("whose connections are killed in the middle of a run is a typed error, and the next call works", async () => {
    await using executor = docker({ dockerHost: HOST, pool: { size: 1 } })
    const made = madeBy(executor)
    await succeed(executor, write("file", "kept"))
    const { result, spoke } = begin(executor, [wait("on")])
    const failure = expectFailure(result, "SANDBOX_LOST")
    await spoke
    for (const { pid } of await connections()) process.kill(pid, "SIGKILL")
    await within(failure, 10, "the error")
    const before = [...made]
    expect((await within(succeed(executor, show("file")), 30, "the next call")).stdout).toBe("kept")
    // The containers end by themselves, for their input has.
    await expect
      .poll(async () => (await Promise.all(before.map(exists))).includes(true), { timeout: 10_000 })
      .toBe(false)
  })

  it("does not keep a process from its end, although it never said stop", async () => {
    const code = `
import { DockerCommandLineCodeExecutor } from ${JSON.stringify(MODULE)}
const options = ${JSON.stringify({ ...BASE, dockerHost: HOST })}
const executor = new DockerCommandLineCodeExecutor(options)
executor.on("container-started", ({ containerId }) => console.log(containerId))
const { stdout } = await executor.executeCodeBlocks([{ language: "python", code: "print(6 * 7)" }])
console.log("printed", stdout.trim())`
    const child = spawn(
      process.execPath,
      ["--import", "tsx", "--conditions=@glovebox/source", "--input-type=module", "-e", code],
      {
        stdio: ["ignore", "pipe", "inherit"],
        cwd: fileURLToPath(new URL("../../../../..", import.meta.url)),
      },
    )
    let text = ""
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()))
    try {
      await within(once(child, "exit"), 30, "the process")
    } finally {
      child.kill("SIGKILL")
    }
    expect(text).toMatch(/^printed 42$/m)
    const ids = text.match(/^[0-9a-f]{64}$/gm) ?? []
    expect(ids.length).toBeGreaterThan(0)
    await expect
      .poll(async () => (await Promise.all(ids.map(exists))).includes(true), { timeout: 10_000 })
      .toBe(false)
    await expect.poll(connections, { timeout: 10_000 }).toEqual([])
  })
})
