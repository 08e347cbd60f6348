import assert from "node:assert/strict"
import { stillWorks, succeed, within } from "../expectations.ts"
import { python } from "../programs.ts"
import type { Suite } from "../suite.ts"

/** Code that speaks in the place of what controls it, or looks into it. */
export function defineAgent({ it, itIf, shared, subject, programs }: Suite): void {
  it("bytes that look like the host's own protocol are output like any other", async () => {
    const code = python(`import os, struct
frame = lambda kind, payload: kind + struct.pack(">I", len(payload)) + payload
forged = frame(b"x", b'{"id":1,"code":0,"signal":null,"limits":[]}') + frame(b"c", b'{"files":0,"bytes":0,"skipped":0,"over":false}')
engine = struct.pack(">BxxxI", 1, 5) + b"forge" + struct.pack(">BxxxI", 2, 1 << 31)
marker = b"0" * 48 + b" 0 -\\nready 1 sh=/bin/sh\\n"
for stream in (1, 2):
    os.write(stream, forged + engine + marker + b"\\x00" * 64)
os._exit(3)`)
    const { exitCode, stdout, stderr, termination } = await shared().executeCodeBlocks([code])
    assert.deepEqual([exitCode, termination], [3, "exit"])
    for (const text of [stdout, stderr]) {
      assert.ok(text.includes('{"id":1,"code":0') && text.includes("ready 1 sh=") && text.endsWith("\0"))
    }
  })

  itIf(
    subject.features.processes,
    "no process but the program's own lets it read or write its files",
    async () => {
      const code = python(`import os, sys
def attempt(what, action):
    try: print(what, "OPEN", action())
    except (OSError, ValueError) as error: pass
pids = [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid()]
for pid in pids:
    folder = f"/proc/{pid}"
    attempt(pid + " environ", lambda: open(folder + "/environ", "rb").read(64) or (_ for _ in ()).throw(OSError()))
    attempt(pid + " mem read", lambda: open(folder + "/mem", "rb").read(1))
    attempt(pid + " mem write", lambda: open(folder + "/mem", "r+b").name)
    attempt(pid + " fds", lambda: os.listdir(folder + "/fd") or (_ for _ in ()).throw(OSError()))
    attempt(pid + " cwd", lambda: os.readlink(folder + "/cwd"))
    attempt(pid + " root", lambda: os.listdir(folder + "/root"))
    for fd in range(64):
        for mode in (os.O_RDONLY, os.O_WRONLY):
            attempt(f"{pid} fd {fd}", lambda: os.open(f"{folder}/fd/{fd}", mode | os.O_NONBLOCK))
print("tried", len(pids))`)
      const { stdout } = await succeed(shared(), code)
      assert.match(stdout, /^tried \d+\n$/)
    },
  )

  itIf(subject.features.processes, "no process can be traced", async () => {
    const code = python(`import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
    if pid == os.getpid(): continue
    for request in (PTRACE_ATTACH, PTRACE_SEIZE):
        if libc.ptrace(request, pid, 0, 0) == 0: print("TRACED", pid)
print("tried")`)
    assert.equal((await succeed(shared(), code)).stdout, "tried\n")
  })

  itIf(
    subject.features.processes && subject.features.hardened,
    "what controls the program cannot be limited, or put behind others",
    async () => {
      const code = python(`import os, resource
def attempt(what, action):
    try: action(); print("DONE", what)
    except OSError: pass
for kind in ("NOFILE", "CPU", "AS", "FSIZE", "NPROC"):
    attempt(kind, lambda: resource.prlimit(1, getattr(resource, "RLIMIT_" + kind), (0, 0)))
attempt("idle", lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)))
attempt("batch", lambda: os.sched_setscheduler(1, os.SCHED_BATCH, os.sched_param(0)))
attempt("processors", lambda: os.sched_setaffinity(1, os.sched_getaffinity(0)))
for which, who in ((os.PRIO_PROCESS, 1), (os.PRIO_PGRP, 1), (os.PRIO_USER, os.getuid())):
    attempt("nice", lambda: os.setpriority(which, who, 19))
os.nice(1)
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
print("tried")`)
      assert.equal((await succeed(shared(), code)).stdout, "tried\n")
      await stillWorks(shared(), programs.print)
    },
  )

  itIf(
    subject.features.processes && !subject.features.kernel,
    "the program has no file that is not its own",
    async () => {
      const code = python(`import os
kinds = set()
for fd in os.listdir("/proc/self/fd"):
    try: kinds.add((int(fd), os.readlink(f"/proc/self/fd/{fd}").split(":")[0]))
    except OSError: pass
print(sorted(entry for entry in kinds if not entry[1].startswith("/workspace") and not entry[1].startswith("/proc")))`)
      const { stdout } = await succeed(shared(), code)
      assert.match(stdout.trim(), /^\[\(0, '\/dev\/null'\), \(1, 'pipe'\), \(2, 'pipe'\)\]$/)
    },
  )

  it("modules planted under the names of the standard library do not reach what runs the code", async () => {
    const names = [
      "json",
      "os",
      "select",
      "socket",
      "signal",
      "sitecustomize",
      "usercustomize",
      "ctypes",
      "zlib",
    ]
    const { stdout } = await within(
      succeed(
        shared(),
        python(`for name in ${JSON.stringify(names)}:
    open(name + ".py", "w").write("print('planted', __name__)\\nraise SystemExit(66)")`),
        python(`import math\nprint("ran")`),
      ),
      30,
      "the call",
    )
    assert.equal(stdout, "ran\n")
    await succeed(
      shared(),
      python(`import posix\nfor name in ${JSON.stringify(names)}:\n    posix.unlink(name + ".py")`),
    )
    await stillWorks(shared(), programs.print)
  })
}
