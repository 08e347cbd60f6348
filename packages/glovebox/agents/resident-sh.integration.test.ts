import { spawn, execFile, type ChildProcessWithoutNullStreams } from "node:child_process"
import { randomBytes, randomUUID } from "node:crypto"
import { chmod, mkdtemp, readFile, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"

const run = promisify(execFile)
const IMAGE = "glovebox/sandbox:py3"
const HARDENING = [
  "--network=none",
  "--read-only",
  "--user=65532:65532",
  "--cap-drop=ALL",
  "--security-opt=no-new-privileges",
  "--pids-limit=64",
  "--memory=128m",
  "--memory-swap=128m",
  "--tmpfs=/workspace:rw,exec,nosuid,nodev,size=16m,nr_inodes=1024,uid=65532,gid=65532,mode=0700",
  "--workdir=/workspace",
  "--label=org.glovebox.test=1",
]

interface Ended {
  readonly stdout: Buffer
  readonly stderr: string
  readonly status: number
  readonly limits: string
  readonly ms: number
}

let source = ""
const agents: Agent[] = []

class Agent {
  readonly name = `glovebox-test-${randomUUID()}`
  readonly ended: Promise<number | null>
  readonly #child: ChildProcessWithoutNullStreams
  readonly #output = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
  #wake = (): void => {}

  constructor(shell: readonly string[], options: readonly string[] = []) {
    const command = [...shell, "-c", source, "sh", "/workspace", "bash", "python3", "nosuchthing", "printf"]
    this.#child = spawn("docker", [
      "run",
      "-i",
      "--rm",
      `--name=${this.name}`,
      ...HARDENING,
      ...options,
      IMAGE,
      ...command,
    ])
    this.ended = new Promise((resolve) => this.#child.on("close", resolve))
    for (const name of ["stdout", "stderr"] as const) {
      this.#child[name].on("data", (bytes: Buffer) => {
        this.#output[name] = Buffer.concat([this.#output[name], bytes])
        this.#wake()
      })
    }
    this.#child.stdin.on("error", () => {})
  }

  send(data: string | Uint8Array): void {
    this.#child.stdin.write(data)
  }

  close(): void {
    this.#child.stdin.end()
  }

  put(path: string, content: string | Uint8Array, mode = "644"): void {
    const bytes = Buffer.from(content)
    this.send(`put ${mode} ${bytes.length} ${path}\n`)
    this.send(bytes)
  }

  begin(...argv: readonly string[]): string {
    const marker = randomBytes(24).toString("hex")
    this.send(`run ${marker} ${argv.length}\n${argv.join("\n")}\n`)
    return marker
  }

  run(...argv: readonly string[]): Promise<Ended> {
    return this.end(this.begin(...argv))
  }

  bash(script: string): Promise<Ended> {
    this.put("script.sh", script)
    return this.run("bash", "script.sh")
  }

  python(script: string): Promise<Ended> {
    this.put("script.py", script)
    return this.run("python3", "script.py")
  }

  async get(): Promise<Buffer> {
    const marker = randomBytes(24).toString("hex")
    this.send(`get ${marker}\n`)
    return (await this.end(marker)).stdout
  }

  async end(marker: string): Promise<Ended> {
    const start = performance.now()
    const [stdout, line] = await this.#until("stdout", marker)
    const [stderr] = await this.#until("stderr", marker)
    const [, status, limits] = line.split(" ")
    const ms = performance.now() - start
    return { stdout, stderr: stderr.toString(), status: Number(status), limits: limits ?? "", ms }
  }

  async ready(): Promise<string> {
    return (await this.#until("stdout", "ready"))[1]
  }

  /** Waits until the block has said so, and takes it from the output. */
  async said(text: string): Promise<void> {
    await this.#until("stdout", text)
  }

  async #until(name: "stdout" | "stderr", marker: string): Promise<[Buffer, string]> {
    const deadline = Date.now() + 10_000
    let at = -1
    let end = -1
    while (at < 0 || end < 0) {
      at = this.#output[name].indexOf(marker)
      end = at < 0 ? -1 : this.#output[name].indexOf("\n", at)
      if (end >= 0) break
      if (Date.now() > deadline)
        throw new Error(`No ${marker} on ${name}: ${this.#output[name].toString().slice(-500)}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1000)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    const output = this.#output[name]
    this.#output[name] = output.subarray(end + 1)
    return [output.subarray(0, at), output.subarray(at, end).toString()]
  }
}

const start = (...options: ConstructorParameters<typeof Agent>): Agent => {
  const agent = new Agent(...options)
  agents.push(agent)
  return agent
}

const others = `for s in /proc/[0-9]*/stat; do read -r p c t r 2>/dev/null <$s && [ "$p" != $$ ] && echo "$p $c"; done`

beforeAll(async () => {
  source = await readFile(new URL("resident.sh", import.meta.url), "utf8")
})

afterAll(async () => {
  for (const agent of agents) agent.close()
  await Promise.all(agents.map((agent) => agent.ended))
})

describe.each([
  ["dash", ["dash"]],
  ["bash", ["bash"]],
  ["busybox ash", ["busybox", "ash"]],
])("resident.sh in %s", (_, shell) => {
  let agent: Agent

  beforeAll(async () => {
    agent = start(shell)
    await agent.ready()
  })

  // What a test leaves behind must not be the next one's.
  afterEach(async () => {
    await agent.run("bash", "-c", "chmod -R u+rwx . ; rm -rf ./* ./.[!.]*")
  })

  it("says which programs there are, by their absolute paths", async () => {
    const second = start(shell)
    expect(await second.ready()).toBe(
      "ready 1 bash=/usr/bin/bash python3=/usr/bin/python3 nosuchthing= printf=",
    )
    second.close()
    expect(await second.ended).toBe(0)
  })

  it("puts a file and runs it, without input, in a session of its own", async () => {
    agent.put(
      "deep/er/hello world.py",
      "import os, sys\nprint(sys.argv[1:], repr(sys.stdin.read()), os.getsid(0) == os.getpid())",
    )
    const ended = await agent.run("python3", "deep/er/hello world.py", "", " a  b ", "é い Ё $x `y` \\n")
    expect(ended).toMatchObject({ stderr: "", status: 0, limits: "-" })
    expect(ended.stdout.toString()).toBe("['', ' a  b ', 'é い Ё $x `y` \\\\n'] '' True\n")
  })

  it("gives a program nothing of its own: descriptors, variables, ignored signals, blocking", async () => {
    const script = `import os, signal, sys
print(sorted(os.listdir("/proc/self/fd"))[:3], [n for n in os.environ if "gb_" in n], os.getcwd())
print([s.name for s in signal.valid_signals() if s not in (9, 13, 19, 25) and isinstance(s, signal.Signals) and signal.getsignal(s) == signal.SIG_IGN])
print([os.get_blocking(n) for n in (1, 2)], len(os.listdir("/proc/self/fd")), oct(os.umask(0)))
os.set_blocking(1, False)
os.set_blocking(2, False)`
    const expected = "['0', '1', '2'] [] /workspace\n[]\n[True, True] 4 0o22\n"
    for (const _ of [1, 2]) expect((await agent.python(script)).stdout.toString()).toBe(expected)
  })

  it("carries every byte, with and without a new line at the end", async () => {
    const bytes = Buffer.concat([
      Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
      randomBytes(100_000),
    ])
    agent.put("data", bytes)
    agent.put("empty", "")
    const ended = await agent.bash("cat empty data; printf 'no end' >&2")
    expect(ended.stdout.equals(bytes)).toBe(true)
    expect(ended.stderr).toBe("no end")
  })

  it("puts and gives 10 MB exactly", async () => {
    const bytes = randomBytes(10_000_000)
    agent.put("big", bytes)
    expect((await agent.run("cat", "big")).stdout.equals(bytes)).toBe(true)
  })

  it("tells how a program ended", async () => {
    expect(await agent.bash("exit 3")).toMatchObject({ status: 3, limits: "-" })
    expect(await agent.bash("exit 255")).toMatchObject({ status: 255 })
    expect(await agent.bash("kill -9 $$")).toMatchObject({ status: 137, stderr: "" })
    expect(await agent.bash("kill -TERM $$")).toMatchObject({ status: 143, stderr: "" })
    expect(await agent.python("import os, signal; os.kill(os.getpid(), signal.SIGINT)")).toMatchObject({
      status: 130,
    })
    expect(await agent.run("nosuchthing")).toMatchObject({ status: 127 })
    expect((await agent.run("nosuchthing")).stderr).toContain("nosuchthing")
    expect(await agent.run("exit", "0")).toMatchObject({ status: 127 })
    expect(await agent.run("/workspace/nosuchthing")).toMatchObject({ status: 127 })
  })

  it("makes a file executable when asked to", async () => {
    agent.put("program", "#!/bin/sh\necho ran\n", "755")
    expect((await agent.run("./program")).stdout.toString()).toBe("ran\n")
    agent.put("program", "#!/bin/sh\necho ran\n")
    expect((await agent.run("./program")).status).toBe(126)
  })

  it("leaves nothing of a block alive", async () => {
    const ended =
      await agent.bash(`sleep 97 & setsid sleep 98 & (trap '' TERM HUP; sleep 99) & nohup sleep 100 &
(setsid sh -c 'while :; do echo late; sleep 0.001; done' &)
python3 -c 'import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(101)'
echo end`)
    expect(ended.status).toBe(0)
    expect(ended.stdout.toString()).toContain("end\n")
    // The agent, its watcher, and the process between it and the block.
    expect((await agent.bash(others)).stdout.toString().trim().split("\n")).toHaveLength(3)
    const { stdout } = await run("docker", ["top", agent.name, "-eo", "pid,args"])
    expect(stdout.trim().split("\n")).toHaveLength(2)
  })

  it("collects orphans, whenever they die", async () => {
    agent.put("block.sh", "for i in 1 2 3 4 5 6; do (sleep 0.00$i &); done; sleep 0.003")
    for (let block = 0; block < 20; block += 1) {
      expect(await agent.run("bash", "block.sh")).toMatchObject({ status: 0, limits: "-" })
    }
  })

  it("kills on a line, whatever ignores other signals", async () => {
    agent.put(
      "block.sh",
      "trap '' TERM INT HUP\n(trap '' TERM; setsid sleep 97) &\necho here\nwhile :; do :; done",
    )
    const marker = agent.begin("bash", "block.sh")
    await agent.said("here")
    agent.send("kill\n")
    const ended = await agent.end(marker)
    expect(ended.status).toBe(137)
    expect(ended.ms).toBeLessThan(2000)
    agent.send("kill\n")
    expect((await agent.bash("echo after")).stdout.toString()).toBe("after\n")
  })

  it("kills a block that has hardly begun", async () => {
    for (let block = 0; block < 10; block += 1) {
      const marker = randomBytes(24).toString("hex")
      agent.send(`run ${marker} 2\nsleep\n97\nkill\n`)
      expect(await agent.end(marker)).toMatchObject({ status: 137, limits: "-" })
    }
  })

  it("ends the block of a program that kills all it can", async () => {
    expect((await agent.python("import os, time\nos.kill(-1, 9)\ntime.sleep(60)")).status).toBe(137)
    expect((await agent.bash("echo after")).stdout.toString()).toBe("after\n")
  })

  it("survives what is sent to process 1", async () => {
    const signals =
      "KILL STOP TSTP TERM INT HUP QUIT USR1 USR2 PIPE ALRM SEGV ABRT ILL FPE BUS SYS XCPU CHLD CONT"
    const ended = await agent.bash(`for s in ${signals}; do kill -$s 1; done; sleep 0.05; exit 7`)
    expect(ended.status).toBe(7)
    expect((await agent.bash("echo after")).stdout.toString()).toBe("after\n")
  })

  it("follows no planted link", async () => {
    await agent.bash(
      "mkdir real; echo safe >real/file; ln -s real/file link; ln -s real folder; ln -s nowhere lost; mkfifo pipe",
    )
    for (const path of ["link", "lost", "pipe"]) agent.put(path, "new")
    const ended = await agent.bash("cat link lost pipe real/file; ls; [ -L link ] || echo no link")
    expect(ended.stdout.toString()).toBe(
      "newnewnewsafe\nfolder\nlink\nlost\npipe\nreal\nscript.sh\nno link\n",
    )
    agent.put("folder/file", randomBytes(100_000))
    const refused = await agent.bash("cat real/file")
    expect(refused).toMatchObject({ status: 126, limits: "-" })
    expect(refused.stderr).toContain("folder/file")
    agent.send("del folder/file\n")
    expect(await agent.bash("cat real/file")).toMatchObject({ status: 126 })
    expect((await agent.bash("cat real/file")).stdout.toString()).toBe("safe\n")
    agent.send("del real/file\ndel real/missing\ndel missing/missing\ndel link\n")
    expect((await agent.bash("ls real; ls")).stdout.toString()).toBe("folder\nlost\npipe\nreal\nscript.sh\n")
    for (const path of ["../up", "a/../../up", "/tmp/up", "a//b", "."]) {
      agent.put(path, "x")
      expect(await agent.bash("true"), path).toMatchObject({ status: 126 })
    }
  })

  it("takes all bytes of a file that does not fit, and says so", async () => {
    agent.put("huge", randomBytes(20_000_000))
    expect(await agent.bash("true")).toMatchObject({ status: 126 })
    expect((await agent.bash("echo after; ls")).stdout.toString()).toBe("after\nscript.sh\n")
  })

  it("reports a fork bomb, and outlives it", async () => {
    const marker = agent.begin("bash", "-c", ":(){ :|:& };: 2>/dev/null; echo here; while :; do :; done")
    await agent.said("here")
    await new Promise((resolve) => setTimeout(resolve, 300))
    agent.send("kill\n")
    const ended = await agent.end(marker)
    expect(ended).toMatchObject({ status: 137, limits: "pids" })
    expect(ended.ms).toBeLessThan(2000)
    const full = "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(60)"
    expect(await agent.python(full)).toMatchObject({ status: 1, limits: "pids" })
    expect(await agent.bash("echo after")).toMatchObject({ status: 0, limits: "-" })
  })

  it("reports memory that ran out", async () => {
    expect(await agent.python("x = bytearray(300_000_000)")).toMatchObject({ status: 137, limits: "memory" })
    expect(await agent.bash("echo after")).toMatchObject({ status: 0, limits: "-" })
  })

  it("reports a workspace that is full, of bytes or of files", async () => {
    expect(await agent.python("open('x', 'wb').write(bytes(20_000_000))")).toMatchObject({
      status: 1,
      limits: "workspace",
    })
    await agent.bash("rm x")
    const files = "for i in range(2000): open(f'f{i}', 'w').close()"
    expect(await agent.python(files)).toMatchObject({ status: 1, limits: "workspace" })
  })

  it("gives the workspace as an archive of files and folders, each name exactly", async () => {
    const data = randomBytes(50_000)
    agent.put("sub/data", data)
    const long = `${"d".repeat(90)}/${"f".repeat(90)}`
    await agent.bash(`mkdir -p ${"d".repeat(90)}; echo long >${long}; printf x >$'new\\nline'; ln -s sub link; mkfifo pipe
ln sub/data again; printf '#!' >run; chmod 755 run; rm script.sh`)
    const archive = await agent.get()
    expect(archive.length % 512).toBe(0)
    expect(await readTar(archive)).toEqual({
      files: {
        "./again": data.toString("base64"),
        "./new\nline": Buffer.from("x").toString("base64"),
        "./run": Buffer.from("#!").toString("base64"),
        "./sub/data": data.toString("base64"),
        [`./${long}`]: Buffer.from("long\n").toString("base64"),
      },
      executable: ["./run"],
      rest: [],
    })
    expect((await agent.bash("echo after")).stdout.toString()).toBe("after\n")
  })

  it("ends with its input, idle or in the middle of a block", async () => {
    const busy = start(shell)
    await busy.ready()
    busy.begin("bash", "-c", "trap '' TERM; setsid sleep 97 & echo here; while :; do sleep 1; done")
    await busy.said("here")
    const before = performance.now()
    busy.close()
    expect(await busy.ended).toBe(0)
    expect(performance.now() - before).toBeLessThan(2000)
    const { stdout } = await run("docker", ["ps", "-aq", "--filter", `name=${busy.name}`])
    expect(stdout).toBe("")
  })
})

describe("resident.sh with busybox alone, without setsid", () => {
  let tools = ""
  let agent: Agent

  beforeAll(async () => {
    tools = await mkdtemp(join(tmpdir(), "glovebox-tools-"))
    await chmod(tools, 0o755)
    for (const name of ["busybox", "cat", "chmod", "dd", "df", "find", "head", "mkdir", "rm", "sleep", "tar"])
      await symlink("/usr/bin/busybox", join(tools, name))
    for (const name of ["bash", "python3"]) await symlink(`/usr/bin/${name}`, join(tools, name))
    agent = start(["busybox", "ash"], [`--volume=${tools}:/tools:ro`, "--env=PATH=/tools"])
  })

  afterAll(async () => rm(tools, { recursive: true, force: true }))

  it("runs, kills and gives the workspace all the same", async () => {
    expect(await agent.ready()).toBe("ready 1 bash=/tools/bash python3=/tools/python3 nosuchthing= printf=")
    const data = randomBytes(300_000)
    agent.put("sub/data", data)
    expect((await agent.run("cat", "sub/data")).stdout.equals(data)).toBe(true)
    expect(await agent.run("exit", "0")).toMatchObject({ status: 127 })
    expect(await agent.run("gb_sweep")).toMatchObject({ status: 127 })
    expect(await agent.bash("sleep 97 & kill -TERM 0")).toMatchObject({ stderr: "" })
    const marker = agent.begin("bash", "-c", "sleep 97 & echo here; sleep 98")
    await agent.said("here")
    agent.send("kill\n")
    expect(await agent.end(marker)).toMatchObject({ status: 137 })
    expect((await agent.bash(others)).stdout.toString().trim().split("\n")).toHaveLength(3)
    agent.send("del script.sh\n")
    expect(await readTar(await agent.get())).toEqual({
      files: { "./sub/data": data.toString("base64") },
      executable: [],
      rest: [],
    })
  })
})

const readTar = async (archive: Buffer): Promise<unknown> => {
  const child = execFile("python3", ["-c", READ_TAR], { maxBuffer: 2 ** 24 })
  child.stdin?.end(archive)
  let json = ""
  child.stdout?.on("data", (text: string) => (json += text))
  await new Promise((resolve) => child.on("close", resolve))
  return JSON.parse(json)
}

const READ_TAR = `import base64, io, json, sys, tarfile
archive = tarfile.open(fileobj=io.BytesIO(sys.stdin.buffer.read()))
members = [m for m in archive if not m.isdir()]
files = [m for m in members if m.isreg()]
print(json.dumps({
    "files": {m.name: base64.b64encode(archive.extractfile(m).read()).decode() for m in files},
    "executable": [m.name for m in files if m.mode & 0o100],
    "rest": [m.name for m in members if not m.isreg()],
}))`
