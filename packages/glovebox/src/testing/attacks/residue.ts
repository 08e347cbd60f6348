import assert from "node:assert/strict"
import { succeed } from "../expectations.ts"
import { python } from "../programs.ts"
import type { Suite } from "../suite.ts"

const LEAVE = python(`import ctypes, mmap, os, socket, tempfile
for place in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/dev/mqueue", os.path.expanduser("~")):
    try: open(os.path.join(place, "residue-file"), "w").write("residue of run one")
    except OSError: pass
libc = ctypes.CDLL(None)
libc.shmget(0x5151, 4096, 0o1666); libc.semget(0x5152, 1, 0o1666); libc.msgget(0x5153, 0o1666)
server = socket.socket(socket.AF_UNIX)
try: server.bind("\\0residue-socket")
except OSError: pass
try: socket.sethostname("residue")
except OSError: pass
os.environ["RESIDUE"] = "1"
import json, math
json.residue = math.residue = "residue"
os.umask(0o777)`)

const LOOK = python(`import ctypes, glob, json, math, os, socket
found = []
for pattern in ("/tmp/*", "/tmp/.*", "/dev/shm/*", "/var/tmp/*", "/run/*residue*", "/dev/mqueue/*"):
    found += [path for path in glob.glob(pattern) if os.path.basename(path) not in (".", "..")]
libc = ctypes.CDLL(None)
if libc.shmget(0x5151, 4096, 0) >= 0: found.append("shared memory")
if libc.semget(0x5152, 1, 0) >= 0: found.append("semaphore")
if libc.msgget(0x5153, 0) >= 0: found.append("queue")
if "residue-socket" in open("/proc/net/unix").read(): found.append("socket")
if socket.gethostname() == "residue": found.append("host name")
if "RESIDUE" in os.environ: found.append("environment")
if hasattr(json, "residue") or hasattr(math, "residue"): found.append("module")
if os.umask(0o022) != 0o022: found.append("umask")
print(found)`)

/** What one run leaves for the next. */
export function defineResidue({ itIf, shared, subject }: Suite): void {
  const { features } = subject

  itIf(!features.session, "nothing but files of the workspace is left for the next call", async () => {
    await succeed(shared(), LEAVE)
    assert.equal((await succeed(shared(), LOOK)).stdout, "[]\n")
  })

  itIf(!features.session && features.files, "what is left of an executor is not in another", async () => {
    await using one = subject.create()
    await using other = subject.create()
    await succeed(one, python(`open("of-one", "w").write("secret of one")`))
    const { stdout } = await succeed(other, python(`import os\nprint(os.path.exists("of-one"))`))
    assert.equal(stdout, "False\n")
  })

  itIf(!features.session, "memory that a run gets is empty", async () => {
    await succeed(shared(), python(`keep = bytearray(b"residue-in-memory" * 1_000_000)`))
    const { stdout } = await succeed(
      shared(),
      python(`import mmap\nprint(any(mmap.mmap(-1, 64 << 20).read(64 << 20)))`),
    )
    assert.equal(stdout, "False\n")
  })
}
