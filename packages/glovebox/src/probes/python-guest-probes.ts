import { lab } from "./define-probe.ts"
import { allowed } from "./finding.ts"
import { attackFromGuest } from "./guest-probe.ts"
import type { Lab } from "./lab.ts"
import type { Probe } from "./probe.ts"

interface PythonAttack {
  readonly id: string
  readonly title: string
  readonly why: string
  readonly quick?: boolean
  readonly attempts: (one: Lab) => string
}

const ATTACKS: readonly PythonAttack[] = [
  {
    id: "py-files",
    title: "read a file of the host by its path, and write beside it, from Python",
    why: "the host's files are what a sandbox is to keep from code",
    quick: true,
    attempts: ({ canary }) => `file, secret = ${JSON.stringify(canary.file)}, ${JSON.stringify(canary.secret)}
def content(path):
    handle = os.open(path, os.O_RDONLY)
    return secret in os.read(handle, 4096).decode()
for path in (file, "../" * 12 + file, "/workspace/../.." + file, "/proc/self/root" + file, "//" + file, "./" * 900 + ".." + file):
    attempt(path[:30], lambda: content(path))
for path in ("/etc/passwd", "/proc/self/environ", "/proc/1/cmdline", "/dev/urandom"):
    attempt(path, lambda: os.path.exists(path))
attempt("a file beside it", lambda: open(file + ".planted", "w").close() is None)
attempt("a folder", lambda: len(os.listdir(os.path.dirname(file))) > 0)`,
  },
  {
    id: "py-links",
    title: "read a file of the host through a link made in the workspace",
    why: "who follows a link for a guest reads with the host's rights",
    quick: true,
    attempts: ({
      canary,
      token,
    }) => `file, secret = ${JSON.stringify(canary.file)}, ${JSON.stringify(canary.secret)}
import tempfile
os.chdir(tempfile.gettempdir())
def through(make, target, rest=""):
    name = "link-${token}-%d" % tried
    make(target, name)
    try: return secret in open(name + rest).read()
    finally: os.remove(name)
folder, leaf = os.path.split(file)
attempt("a link", lambda: through(os.symlink, file))
attempt("a link upwards", lambda: through(os.symlink, "../" * 12 + file[1:]))
attempt("a link to its folder", lambda: through(os.symlink, folder, "/" + leaf))
attempt("a hard link", lambda: through(os.link, file))`,
  },
  {
    id: "py-processes",
    title: "start a program or a thread from Python",
    why: "what it starts is the host's",
    attempts: () => `import subprocess, threading
program = sys.executable or "/usr/bin/python3"
attempt("fork", lambda: os.waitpid(os.fork() or os._exit(0), 0)[1] == 0)
attempt("system", lambda: os.system("true") == 0)
attempt("subprocess", lambda: subprocess.run([program, "-c", "pass"]).returncode == 0)
attempt("posix_spawn", lambda: os.posix_spawn(program, [program, "-c", "pass"], {}) > 0)
attempt("a signal", lambda: os.kill(os.getppid(), 0) is None)`,
  },
  {
    id: "py-native",
    title:
      "reach native code from Python: ctypes, shared libraries, the modules by which Pyodide reaches its host",
    why: "in Node, Pyodide's os.system is the host's",
    quick: true,
    attempts:
      () => `for name in ("ctypes", "_ctypes", "cffi", "js", "pyodide", "pyodide_js", "_pyodide_core", "fcntl", "resource"):
    attempt(name, lambda: __import__(name) is not None)
import importlib.machinery
attempt("shared libraries", lambda: bool(importlib.machinery.EXTENSION_SUFFIXES) and hasattr(__import__("_imp"), "create_dynamic"))`,
  },
]

/** CPython for WASI, and its ways to the host. */
export const PYTHON_GUEST_PROBES: readonly Probe[] = [
  ...ATTACKS.map(({ id, attempts, ...rest }) =>
    lab("wasm", {
      ...rest,
      id: `wasm.${id}`,
      tiers: ["wasm"],
      careless: "the same program runs in this machine's own Python",
      run: async (one) => attackFromGuest(one, { language: "python", attempts: attempts(one) }),
    }),
  ),
  lab("wasm", {
    id: "wasm.py-network",
    title: "send a word to listeners at every address of this machine, from Python",
    why: "data leaves by it",
    tiers: ["wasm"],
    careless: "the same program runs in this machine's own Python",
    run: async (one) => {
      await using listeners = await one.listen()
      const attempts = `import socket
def send(kind, host, port):
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM) as one:
        one.settimeout(2)
        one.connect((host, port))
        return one.send(b"${one.token}") > 0
for kind, host, port in ${JSON.stringify(listeners.targets)}:
    attempt("%s %s" % (kind, host), lambda: send(kind, host, port))
attempt("a name", lambda: len(socket.getaddrinfo("localhost", 80)) > 0)
attempt("a socket", lambda: socket.socket() is not None)`
      const found = await attackFromGuest(one, { language: "python", attempts })
      const arrivals = listeners.arrivals()
      return arrivals.length > 0 ? allowed(`heard: ${arrivals.join(", ")}`) : found
    },
  }),
]
