import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Resident, withResident } from "./resident.test-kit.ts"

const quiet = { code: 0, signal: null, limits: [], stderr: "" }
const hows = ["fork", "exec"] as const

const busy = (block: number): string => `import subprocess, threading, random, json
from concurrent.futures import ThreadPoolExecutor
if __name__ == "__main__":
    subprocess.Popen("trap '' TERM HUP; (setsid sleep 98 &); sleep 98", shell=True)
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    with ThreadPoolExecutor(3) as pool: print(list(pool.map(lambda n: n * n, range(3))), flush=True)
    print(subprocess.run(["echo", "sub ${block}"], capture_output=True, text=True).stdout, end="", flush=True)
    import multiprocessing
    with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))
`

describe("the resident agent", () => {
  let agent: Resident
  let facts: Record<string, unknown>

  beforeAll(async () => {
    agent = new Resident({ preload: ["json", "random"] })
    facts = await agent.ready()
  })

  afterAll(async () => {
    await agent.stop()
  })

  it("tells what it is confined to", () => {
    expect(facts).toMatchObject({
      version: 1,
      uid: 65_532,
      gid: 65_532,
      status: { NoNewPrivs: "1", Seccomp: "2", CapEff: "0000000000000000", CapBnd: "0000000000000000" },
      programs: { python3: expect.stringMatching(/^\/usr\/(local\/)?bin\/python3$/), nope: null },
      interfaces: ["lo"],
      root: { readOnly: true },
      workspace: { bytes: 32 << 20, files: 4096 },
      cgroup: { memory: 256 << 20, pids: 64, cpus: null },
      ready: true,
    })
    expect(facts["python"]).toMatch(/^3\.\d+\.\d+$/)
  })

  it.each(hows)("runs a script by %s", async (how) => {
    agent.put("dir/script.py", "import sys\nprint(sys.argv)\nprint('no', file=sys.stderr)\nsys.exit(3)\n")
    const result = await agent.run(["python3", "dir/script.py", "a b", "ü"], how)
    const stdout = Buffer.from("['dir/script.py', 'a b', 'ü']\n").toString("latin1")
    expect(result).toEqual({ stdout, stderr: "no\n", code: 3, signal: null, limits: [] })
  })

  it.each(hows)("gives a program nothing of its own by %s", async (how) => {
    const result = await agent.python(
      `import os, time
print([os.readlink("/proc/self/fd/" + fd)[:4] for fd in sorted(os.listdir("/proc/self/fd"))[:3]])
print(len(os.listdir("/proc/self/fd")), os.getsid(0) == os.getpid() == os.getpgid(0), os.getppid(), os.umask(0))
time.sleep(0.1)
print(open("/proc/self/oom_score_adj").read().strip(), os.getcwd())
for path in ("/proc/1/fd/1", "/proc/1/mem", "/proc/1/environ"):
    try:
        print(open(path, "rb").read(1))
    except PermissionError:
        print("refused")
`,
      how,
    )
    const stdout = "['/dev', 'pipe', 'pipe']\n4 True 1 18\n1000 /workspace\nrefused\nrefused\nrefused\n"
    expect(result).toEqual({ ...quiet, stdout })
  })

  it("runs it in the ready interpreter, of which only the frozen part of the heap is left to tell", async () => {
    const frozen = "import gc; print(gc.get_freeze_count() > 5000)"
    expect((await agent.python(frozen, "fork")).stdout).toBe("True\n")
    expect((await agent.python(frozen, "exec")).stdout).toBe("False\n")
  })

  it("starts a program with plain signals", async () => {
    // Without 32 and 33, which belong to the C library: its posix_spawn leaves them ignored.
    const masks = await agent.bash("grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status | cut -f2 | tr 18 0")
    expect(masks.stdout).toBe("0000000000000000\n".repeat(3))
    expect((await agent.bash("yes | head -1; echo ${PIPESTATUS[0]}")).stdout).toBe("y\n141\n")
  })

  it("says which program is missing, and that one cannot be run", async () => {
    agent.start(["nope", "x"], "exec")
    expect(await agent.nextJson("!")).toMatchObject({ op: "X", program: "nope", id: expect.any(Number) })
    agent.put("plain", "text")
    agent.start(["./plain"], "exec")
    expect(await agent.nextJson("!")).toMatchObject({
      op: "X",
      program: "./plain",
      message: "Permission denied",
    })
  })

  it("answers what it cannot do, and goes on", async () => {
    agent.send("Q", Buffer.from("?"))
    expect(await agent.nextJson("!")).toMatchObject({ op: "Q" })
    agent.send("X", Buffer.from("{"))
    expect(await agent.nextJson("!")).toMatchObject({ op: "X" })
    agent.send("X", { id: 9, argv: ["a\0b"], how: "exec" })
    expect(await agent.nextJson("!")).toMatchObject({ op: "X", id: 9 })
    agent.send("X", { id: 9, argv: ["true"], how: "magic" })
    expect(await agent.nextJson("!")).toMatchObject({ op: "X", id: 9 })
    agent.send("D", Buffer.from("stray"))
    expect(await agent.nextJson("!")).toMatchObject({ op: "D" })
    agent.send("N")
    expect(await agent.bash("echo on")).toEqual({ ...quiet, stdout: "on\n" })
  })

  it.each(["/etc/x", "../x", "a/../x", "a//x", "./x", "", "a/", "a\0b", "\u{d800}"])(
    "refuses to put %j and swallows the rest of it",
    async (path) => {
      agent.put(path, Buffer.alloc(600_000, 120))
      expect(await agent.nextJson("!")).toMatchObject({ op: "P" })
      expect(await agent.bash("echo on")).toEqual({ ...quiet, stdout: "on\n" })
    },
  )

  it("replaces a planted link and never follows one", async () => {
    await agent.bash(
      "mkdir -p real; echo keep > real/kept; ln -s real/kept planted; ln -s real folder; mkfifo pipe",
    )
    agent.put("planted", "new")
    agent.put("pipe", "file")
    agent.put("folder/kept", "evil")
    expect(await agent.nextJson("!")).toMatchObject({ op: "P", path: "folder/kept" })
    agent.send("U", { paths: ["folder/kept", "missing", "missing/too"] })
    expect(await agent.nextJson("!")).toMatchObject({ op: "U", path: "folder/kept" })
    const shown = await agent.bash(
      "cat real/kept planted pipe; test ! -L planted && test -f pipe && rm -r real folder",
    )
    expect(shown).toEqual({ ...quiet, stdout: "keep\nnewfile" })
  })

  it("puts big files with their mode, in constant memory, and says when there is no room", async () => {
    agent.put("big/file", Buffer.alloc(20 << 20, "x"), 0o750)
    const shown = await agent.bash("stat -c '%s %a' big/file; tr -d x < big/file | wc -c")
    expect(shown.stdout).toBe("20971520 750\n0\n")
    agent.put("big/more", Buffer.alloc(20 << 20, "y"))
    expect(await agent.nextJson("!")).toMatchObject({
      op: "D",
      path: "big/more",
      message: "No space left on device",
    })
    expect((await agent.bash("ls big; rm -r big")).stdout).toBe("file\n")
  })

  it("collects what is new, changed or gone, and no links or devices", async () => {
    await agent.bash("rm -rf /workspace/*")
    await agent.collect()
    agent.put("kept.txt", "kept")
    agent.put("changed.txt", "old")
    agent.put("removed.txt", "x")
    agent.put("unlinked.txt", "x")
    agent.send("U", { paths: ["unlinked.txt"] })
    await agent.bash(
      `echo new > new.txt; chmod 755 new.txt; echo -n "now" > changed.txt; rm removed.txt; mkdir -p a/b empty
      echo deep > a/b/deep; ln -s /etc/passwd link; ln -s /etc folder; mkfifo pipe; touch $'bad\\xff'; : > none`,
    )
    const { files, gone, summary } = await agent.collect()
    expect(Object.fromEntries(files)).toEqual({
      "a/b/deep": { text: "deep\n", mode: 0o644 },
      "changed.txt": { text: "now", mode: 0o644 },
      "new.txt": { text: "new\n", mode: 0o755 },
      none: { text: "", mode: 0o644 },
    })
    expect(gone).toEqual(["removed.txt"])
    expect(summary).toEqual({ files: 4, bytes: 12, skipped: 4, over: false })
    const again = await agent.collect()
    expect([again.files.size, again.gone, again.summary["files"]]).toEqual([0, [], 0])
    await agent.bash("rm -rf ./*")
    expect((await agent.collect()).gone).toEqual(["a/b/deep", "changed.txt", "kept.txt", "new.txt", "none"])
  })

  it.each(hows)(
    "runs blocks with threads, subprocesses and daemons one after the other, from %s",
    async (first) => {
      for (let block = 0; block < 8; block += 1) {
        const result = await agent.python(busy(block), hows[(block + hows.indexOf(first)) % 2])
        expect(result).toEqual({ ...quiet, stdout: `[0, 1, 4]\nsub ${block}\n[1, 2]\n` })
        expect((await agent.bash("ps | grep -c '[s]leep 98'")).stdout).toBe("0\n")
      }
    },
  )

  it("stops collecting at the maxima", async () => {
    await agent.bash("for i in 1 2 3 4; do head -c 100000 /dev/zero > f$i; done")
    const few = await agent.collect({ maxFiles: 2 })
    expect([[...few.files.keys()], few.summary["over"]]).toEqual([["f1", "f2"], true])
    const small = await agent.collect({ maxBytes: 150_000 })
    expect([[...small.files.keys()], small.summary["over"]]).toEqual([["f3"], true])
    const rest = await agent.collect()
    expect([[...rest.files.keys()], rest.summary]).toEqual([
      ["f4"],
      { files: 1, bytes: 100_000, skipped: 0, over: false },
    ])
    await agent.bash("rm f?")
  })

  it("relays ten megabytes, and bytes that look like frames", async () => {
    const big = await agent.python("import os\nfor _ in range(160): os.write(1, b'z' * 65536)\n")
    expect([big.stdout.length, big.code]).toEqual([160 * 65_536, 0])
    const fake = await agent.python(`print('x\\0\\0\\0\\x02{}' * 3, end='')`)
    expect(fake.stdout).toBe("x\0\0\0\u0002{}".repeat(3))
  })

  it("relays at once, in order of arrival", async () => {
    agent.put(
      "main.py",
      "import os, time\nfor i in range(4):\n    os.write(1 + i % 2, b'%d' % i)\n    time.sleep(0.05)\n",
    )
    agent.start(["python3", "main.py"], "fork")
    const seen: string[] = []
    for (let i = 0; i < 4; i += 1) {
      const frame = (await agent.next())!
      seen.push(frame.type + frame.payload.toString())
    }
    expect(seen).toEqual(["o0", "e1", "o2", "e3"])
    expect(await agent.outcome()).toMatchObject({ code: 0, stdout: "", stderr: "" })
  })

  it("runs on when a program closes its streams", async () => {
    const result = await agent.python(
      "import os, time\nos.close(1)\nos.close(2)\ntime.sleep(0.1)\nopen('late', 'w').close()\nos._exit(4)\n",
    )
    expect(result).toEqual({ ...quiet, code: 4, stdout: "" })
    expect((await agent.bash("rm late && echo was there")).stdout).toBe("was there\n")
  })

  it("kills what it is told to, SIGTERM ignored or not, stopped or not", async () => {
    for (const last of ["sleep 60", "kill -STOP $$"]) {
      agent.start(["bash", "-c", `trap '' TERM INT HUP; (trap '' TERM; sleep 60) & echo up; ${last}`], "exec")
      expect((await agent.next())?.payload.toString()).toBe("up\n")
      agent.send("K")
      expect(await agent.outcome()).toMatchObject({ code: null, signal: 9 })
    }
    agent.send("K")
    expect((await agent.bash("ps | grep -c '[s]leep'")).stdout).toBe("0\n")
  })

  it("leaves nothing of a block behind", async () => {
    const daemon =
      "(setsid bash -c 'trap \"\" TERM; while :; do echo leak; sleep 0.01; done' &) ; sleep 0.1; echo end"
    const result = await agent.bash(daemon)
    expect(result.stdout).toContain("end\n")
    await expect(agent.bash("sleep 0.1; ps | grep -c '[s]leep 0.01'")).resolves.toMatchObject({
      stdout: "0\n",
    })
  })

  it("survives signals from inside", async () => {
    const result = await agent.bash(
      "for s in TERM INT HUP QUIT KILL STOP CHLD USR1 PIPE ALRM SEGV; do kill -$s 1; done; echo on",
    )
    expect(result).toEqual({ ...quiet, stdout: "on\n" })
    expect(await agent.python("print('on')")).toEqual({ ...quiet, stdout: "on\n" })
  })

  it("survives a fork bomb, and tells of the limit", async () => {
    agent.start(["bash", "-c", "bomb() { bomb | bomb & }; bomb; sleep 60"], "exec")
    await new Promise((resolve) => {
      setTimeout(resolve, 700)
    })
    agent.send("K")
    expect(await agent.outcome()).toMatchObject({ signal: 9, limits: ["pids"] })
    expect(await agent.python("print('on')")).toEqual({ ...quiet, stdout: "on\n" })
  })

  it.each(hows)("survives a program that eats all memory by %s, and tells of the limit", async (how) => {
    const result = await agent.python("x = []\nwhile True: x.append(bytearray(b'x' * (8 << 20)))\n", how)
    expect(result).toEqual({ stdout: "", stderr: "", code: null, signal: 9, limits: ["memory"] })
    expect(await agent.bash("echo on")).toEqual({ ...quiet, stdout: "on\n" })
  })

  it("tells of a full workspace", async () => {
    const result = await agent.bash("head -c 40000000 /dev/zero > full")
    expect(result).toMatchObject({ code: 1, limits: ["workspace"] })
    expect((await agent.bash("rm full; for i in $(seq 5000); do : > f$i || break; done")).limits).toEqual([
      "workspace",
    ])
    expect((await agent.bash("rm -f f*")).limits).toEqual([])
  })

  it("does frames that come while a block runs after it", async () => {
    agent.start(["bash", "-c", "cat later.txt; echo made > made.txt"], "exec")
    agent.put("later.txt", "not yet")
    const early = await agent.outcome()
    expect(early).toMatchObject({ code: 0, stdout: "" })
    expect((await agent.collect()).files.get("made.txt")?.text).toBe("made\n")
    expect((await agent.bash("cat later.txt; rm later.txt made.txt")).stdout).toBe("not yet")
  })

  it("sees a packaged module that a block installs", async () => {
    await agent.bash(
      "d=$HOME/.local/lib/python3.*; d=$(python3 -m site --user-site); mkdir -p $d; echo 'v = 7' > $d/fresh.py",
    )
    expect((await agent.python("import fresh; print(fresh.v)")).stdout).toBe("7\n")
    await agent.bash("rm -r $HOME/.local")
  })
})

describe("what is mounted below the workspace", () => {
  it("is not collected, folder or file, nor what has the same device", async () => {
    const mounts = [
      "--tmpfs=/workspace/other",
      "--volume=/etc:/workspace/data folder:ro",
      "--volume=/etc/passwd:/workspace/one:ro",
    ]
    await withResident({ docker: mounts }, async (agent) => {
      await agent.bash("ls 'data folder/passwd' && echo x > mine; echo x > other/x")
      const { files, gone, summary } = await agent.collect()
      expect([[...files.keys()], gone, summary]).toEqual([
        ["mine"],
        [],
        { files: 1, bytes: 2, skipped: 0, over: false },
      ])
    })
  })
})

describe("a ready interpreter that cannot be had", () => {
  it.each(["PYTHONWARNINGS=error", "PYTHONWARNINGS=default"])(
    "is not claimed, or works: %s",
    async (setting) => {
      const agent = new Resident({ preload: ["json"], docker: ["--env", setting] })
      const { python, ready } = await agent.ready()
      expect(ready).toBe(Number((python as string).split(".")[1]) < 12)
      expect(await agent.python("import json; print(json.dumps(1))")).toEqual({ ...quiet, stdout: "1\n" })
      expect(await agent.stop()).toBe(0)
      expect(agent.stderr).toBe("")
    },
  )
})

describe("an interpreter that is not warm yet", () => {
  const preload = ["json", "asyncio", "sqlite3", "unittest", "xml.etree.ElementTree", "multiprocessing"]

  it("does not keep a block waiting, and looks no different", async () => {
    await withResident({ preload, eager: false }, async (agent) => {
      agent.send("W")
      for (let round = 0; round < 4; round += 1) {
        const { stdout } = await agent.python(
          "import json, sys; print(sys.argv, json.__name__, 'unittest' in sys.modules)",
        )
        expect(stdout).toBe("['main.py'] json False\n")
      }
    })
  })

  it("takes nothing from the workspace for a module of the library", async () => {
    await withResident({ preload, eager: false }, async (agent) => {
      agent.send("W")
      for (const name of ["json", "asyncio", "sqlite3", "unittest", "multiprocessing", "xml"]) {
        agent.put(`${name}.py`, `open("/workspace/imported-${name}", "w")`)
      }
      expect((await agent.bash("sleep 0.3; ls imported-* 2>/dev/null")).stdout).toBe("")
      expect((await agent.python("print('fine')")).stdout).toBe("fine\n")
      expect((await agent.bash("ls imported-* 2>/dev/null")).stdout).toBe("")
    })
  })
})

describe("the end of the resident agent", () => {
  it("comes with the end of the input, also under a running block", async () => {
    const agent = new Resident({})
    expect(await agent.ready()).toMatchObject({ ready: false })
    agent.start(["bash", "-c", "trap '' TERM; echo up; sleep 60"], "exec")
    await agent.next()
    expect(await agent.stop()).toBe(0)
  })

  it("comes when the host does not read and has gone", async () => {
    const agent = new Resident({ preload: [] })
    await agent.ready()
    agent.start(["yes"], "exec")
    await agent.next()
    expect(await agent.stop()).toBe(0)
  })

  it("comes with the lease when idle, not under a running block", async () => {
    const agent = new Resident({ lease: 1, preload: [] })
    await agent.ready()
    expect((await agent.bash("sleep 1.5; echo still")).stdout).toBe("still\n")
    expect((await agent.bash("echo idle since then")).code).toBe(0)
    const idle = performance.now()
    expect(await agent.exited).toBe(0)
    expect(performance.now() - idle).toBeLessThan(5000)
  })

  it("comes with damaged framing", async () => {
    const agent = new Resident({})
    await agent.ready()
    agent.sendRaw(Buffer.from("garbage that is no frame"))
    expect(await agent.exited).toBe(2)
    expect(agent.stderr).toContain("glovebox resident:")
  })

  it("answers fork without a ready interpreter", async () => {
    await withResident({}, async (agent) => {
      expect(await agent.python("print(__name__)")).toEqual({ ...quiet, stdout: "__main__\n" })
    })
  })
})
