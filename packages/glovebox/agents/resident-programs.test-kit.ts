import { newerPrograms } from "./resident-newer-programs.test-kit.ts"

/** A Python program that must do the same in the ready interpreter as under a new `python3`. */
export interface Program {
  name: string
  code: string | Buffer
  files?: Record<string, string>
  script?: string
  args?: string[]
}

const raw = String.raw

const plain: Record<string, string> = {
  "nothing at all": "",
  "a comment without a new line": "# only this",
  "the names in __main__": raw`print({k: v for k, v in globals().items() if k != "__loader__"}, type(__loader__), __loader__.path, __loader__.name)`,
  "__main__ as a module": raw`import __main__, sys
print(__main__ is sys.modules["__main__"], vars(__main__) is globals(), repr(__main__), __main__.__file__)`,
  arguments: raw`import sys
print(sys.argv, sys.orig_argv, sys.path, sys.flags, sys.executable, sys.prefix, sys.warnoptions, sys._xoptions)`,
  "modules at the start": raw`import sys
print(list(sys.modules), sys.meta_path, sys.path_hooks[0], sorted(sys.path_importer_cache))`,
  "modules after imports": raw`import sys
before = set(sys.modules)
import json, urllib.request, asyncio, statistics
print(list(sys.modules))
print([n for n in sys.modules if getattr(sys.modules[n], "__spec__", None) is not None and sys.modules[n].__spec__.loader is None])`,
  "one submodule does not show the others": raw`import urllib.parse
print(hasattr(urllib, "request"), hasattr(urllib, "error"), sorted(vars(urllib)))
import concurrent
print(hasattr(concurrent, "futures"))
import json
print(sorted(vars(json)), json.__spec__, json.decoder.__spec__)
import importlib
print(sorted(vars(importlib)))`,
  "modules not preloaded": raw`import sys, sqlite3, xml.dom.minidom, tarfile, argparse, uuid, ssl
print(sqlite3.connect(":memory:").execute("select 1+1").fetchone(), list(sys.modules))`,
  "specs and files of modules": raw`import importlib.util, sys
for name in ("json", "json.decoder", "random", "asyncio", "_json", "math", "nothing"):
    try: print(name, importlib.util.find_spec(name))
    except Exception as error: print(repr(error))
import json, random
print(json, random.__file__, random.__cached__, json.__path__, json.__loader__.path, json.__spec__.submodule_search_locations)
print(importlib.reload(json) is json, importlib.import_module("json.tool").__name__)`,
  "importing again after removal": raw`import sys, json
old = json
del sys.modules["json"]
import json
print(old is json, old.dumps is json.dumps, json.loads("[1]"))`,
  "a missing module": raw`import json
import nothing_like_this`,
  "a missing name": raw`from json import nothing_like_this`,
  "a missing submodule": raw`import urllib.nothing_like_this`,
  "a module that is blocked": raw`import sys
sys.modules["random"] = None
try:
    import tempfile
except ImportError as error:
    print(error)
import random`,
  "a module that is replaced": raw`import sys, types
fake = types.ModuleType("socket")
fake.error = OSError
sys.modules["socket"] = fake
try:
    import http.client
except BaseException as error:
    print(type(error), error)
print("ssl" in sys.modules, "email" in sys.modules)`,
  "an import hook": raw`import sys
class Finder:
    @classmethod
    def find_spec(cls, name, path, target=None):
        print("asked", name)
sys.meta_path.insert(0, Finder)
import random, csv`,
  "a wrapped __import__": raw`import builtins
native = builtins.__import__
def wrapped(name, *rest):
    print(name, rest[3] if len(rest) > 3 else 0)
    return native(name, *rest)
builtins.__import__ = wrapped
import json, collections.abc`,
  "a path before the standard library": raw`import sys, os
os.makedirs("lib", exist_ok=True)
open("lib/random.py", "w").write("mine = True")
sys.path.insert(0, "lib")
import random, tempfile
print(random.mine, random.__file__)
import shutil
shutil.rmtree("lib")`,
  tracing: raw`import sys
seen = []
def trace(frame, event, arg):
    seen.append((frame.f_code.co_name, event))
    return trace
sys.settrace(trace)
def f(x): return x + 1
f(1)
import keyword
sys.settrace(None)
print(seen[:12], sys.gettrace())`,
  profiling: raw`import sys, bisect
calls = []
def f(x): return abs(x)
sys.setprofile(lambda frame, event, arg: calls.append((event, frame.f_code.co_name)))
f(sum([1, 2]))
sys.setprofile(None)
print(calls)`,
  frames: raw`import sys, inspect, traceback
frame = sys._getframe()
print(frame.f_back, frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno, len(inspect.stack()))
traceback.print_stack()
def depth(n=1):
    try: return depth(n + 1)
    except RecursionError: return n
print(depth(), sys.getrecursionlimit())`,
  "frames under an import": raw`import sys
class Loader:
    @staticmethod
    def create_module(spec): return None
    @staticmethod
    def exec_module(module):
        import traceback
        traceback.print_stack()
        raise ValueError("inside")
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        import importlib.machinery
        if name == "special": return importlib.machinery.ModuleSpec(name, Loader)
sys.meta_path.append(Finder)
import special`,
  threads: raw`import threading, _thread, os
main = threading.main_thread()
print(main, threading.current_thread() is main, threading.active_count(), threading.enumerate() == [main], main.name)
print(threading.get_native_id() == os.getpid(), main.ident == threading.get_ident(), main.daemon, threading.stack_size())
print(open("/proc/self/status").read().split("Threads:")[1].split()[0])
t = threading.Thread(target=lambda: print(threading.current_thread().name, threading.active_count()))
t.start(); t.join()`,
  "a thread that outlives main": raw`import threading, time, atexit
atexit.register(print, "atexit")
threading.Thread(target=lambda: (time.sleep(0.1), print("late"))).start()
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("main ends")`,
  "an exception in a thread": raw`import threading
t = threading.Thread(target=lambda: 1 / 0, name="worker")
t.start(); t.join()`,
  "an interpreter pool": raw`from concurrent.futures import ThreadPoolExecutor, ProcessPoolExecutor
def square(x): return x * x
if __name__ == "__main__":
    with ThreadPoolExecutor(3) as pool: print(list(pool.map(square, range(5))))
    with ProcessPoolExecutor(2) as pool: print(list(pool.map(square, range(5))))`,
  "multiprocessing by fork": raw`import multiprocessing as m
def work(q): q.put((m.current_process().name, __name__))
if __name__ == "__main__":
    c = m.get_context("fork"); q = c.SimpleQueue(); p = c.Process(target=work, args=(q,)); p.start(); print(q.get()); p.join(); print(p.exitcode)
    print(m.current_process(), m.parent_process(), m.get_start_method(), m.process.ORIGINAL_DIR)`,
  "multiprocessing by spawn": raw`import multiprocessing as m
print("module", __name__)
class Thing:
    def __init__(self, n): self.n = n
def work(q, t): q.put((t.n, type(t).__module__, __name__))
if __name__ == "__main__":
    c = m.get_context("spawn"); q = c.SimpleQueue(); p = c.Process(target=work, args=(q, Thing(4))); p.start(); r = q.get(); p.join(); print(r, p.exitcode)`,
  "multiprocessing by forkserver": raw`import multiprocessing as m
def work(n): return n * 2
if __name__ == "__main__":
    with m.get_context("forkserver").Pool(2) as pool: print(pool.map(work, [1, 2, 3]))`,
  fork: raw`import os, random
print(random.random() != random.random(), flush=True)
pid = os.fork()
if pid == 0:
    print("child", os.getppid() != 1, flush=True); os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`,
  subprocess: raw`import subprocess, sys
print(subprocess.run([sys.executable, "-c", "import sys; print(sys.argv, sys.stdin.read())", "x"], capture_output=True, text=True))
print(subprocess.run("echo $0; exit 3", shell=True).returncode, subprocess.check_output(["cat"], input=b"in"))`,
  asyncio: raw`import asyncio, signal, os
async def main():
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, lambda: print("usr1"))
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.sleep(0.02)
    p = await asyncio.create_subprocess_exec("echo", "sub", stdout=-1)
    print((await p.communicate())[0], await asyncio.gather(*(asyncio.sleep(0, i) for i in range(3))))
    print(await asyncio.to_thread(lambda: 5))
asyncio.run(main())`,
  signals: raw`import signal
print([(int(n), str(signal.getsignal(n))) for n in sorted(signal.valid_signals())])
print(signal.set_wakeup_fd(-1), signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getsignal(signal.SIGINT) is signal.default_int_handler)
print([l for l in open("/proc/self/status") if l.startswith(("SigBlk", "SigPnd"))])`,
  "an alarm": raw`import signal, time
signal.signal(signal.SIGALRM, lambda n, f: print("ring", f.f_code.co_name))
signal.setitimer(signal.ITIMER_REAL, 0.05)
time.sleep(0.2)
signal.signal(signal.SIGALRM, signal.SIG_DFL)
signal.alarm(1)
signal.pause()`,
  "an interrupt": raw`import os, signal, atexit
atexit.register(print, "atexit")
os.kill(os.getpid(), signal.SIGINT)`,
  "an interrupt that is caught": raw`import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt: print("caught")`,
  "death by a signal": raw`import os, signal
print("lost")
os.kill(os.getpid(), signal.SIGTERM)`,
  "a crash": raw`import ctypes, faulthandler
faulthandler.enable()
ctypes.string_at(0)`,
  abort: raw`import os
os.abort()`,
  "an exception": raw`def f(x):
    return g(x) + 1
def g(x):
    return {"a": x["b"]}
f({})`,
  "a chain of exceptions": raw`class Custom(Exception):
    def __str__(self): return "custom\nlines"
try:
    try: 1 / 0
    except ZeroDivisionError as e: raise Custom from e
except Custom:
    raise ExceptionGroup("group", [ValueError(1), TypeError("two")])`,
  "an exception with a note and a bad str": raw`class Bad(Exception):
    def __str__(self): raise RuntimeError
e = Bad()
e.add_note("note")
raise e`,
  "endless recursion": raw`def f(n): return f(n + 1)
f(0)`,
  "deep repr": raw`x = []
for _ in range(100000): x = [x]
try: repr(x)
except RecursionError as e: print(e)`,
  "a syntax error": "def f(:\n    pass\n",
  "an indentation error": "def f():\nreturn 1\n",
  "an unclosed bracket": "x = (1,\ny = 2\n",
  "a tab error": "if 1:\n        x = 1\n\ty = 2\n",
  "a null byte": "print(1)\0\n",
  "a syntax warning": raw`x = 1
print(x is 1, "\d")
assert (x, "always")`,
  "a future statement": raw`from __future__ import annotations
def f(x: undefined) -> 3: pass
print(f.__annotations__, __annotations__)
y: int = 3
print(__annotations__)`,
  "exit codes: none": raw`import sys; sys.exit()`,
  "exit codes: a number": raw`import sys; print("out"); sys.exit(300)`,
  "exit codes: a text": raw`import sys; sys.exit("why")`,
  "exit codes: an object": raw`raise SystemExit([1, 2])`,
  "exit codes: true": raw`exit(True)`,
  "exit codes: quit in a function under finally": raw`def f():
    try: quit(9)
    finally: print("finally")
f()`,
  "exit codes: at exit": raw`import atexit, sys
atexit.register(print, "first registered")
@atexit.register
def last(): print("last registered"); raise SystemExit(5)
sys.exit(4)`,
  "exit codes: _exit": raw`import os
print("lost")
os._exit(6)`,
  "exit codes: a broken stdout": raw`import os, sys
print("x")
os.close(1)`,
  "exit codes: a full device": raw`import sys
sys.stdout = open("/dev/full", "w")
print("x")`,
  "exit in a thread": raw`import threading, sys
t = threading.Thread(target=lambda: sys.exit(3)); t.start(); t.join(); print("on")`,
  "at exit": raw`import atexit, weakref
class C: pass
c = C()
weakref.finalize(c, print, "finalize")
for i in range(3): atexit.register(print, i)
print(atexit._ncallbacks())
atexit.unregister(print)
atexit.register(lambda: 1 / 0)`,
  "at exit with preloaded modules": raw`import atexit
print(atexit._ncallbacks())
import logging, asyncio, concurrent.futures.thread, multiprocessing.util
print(atexit._ncallbacks())`,
  teardown: raw`import sys
class C:
    def __init__(self, n): self.n = n
    def __del__(self): print("del", self.n, sys is None)
a, b = C("a"), C("b")
b.me = b
_private = C("private")
sys.extra = C("sys")
f = open("unflushed", "w"); f.write("x" * 10)
def g():
    try: yield
    finally: print("closed")
h = g(); next(h)`,
  "what teardown flushed": raw`print(open("unflushed").read())`,
  "teardown of what is local to the thread": raw`import threading, contextvars, os
class C:
    def __del__(self): os.write(1, b"del local\n")
threading.local().x = C()
keep = threading.local(); keep.x = C()
var = contextvars.ContextVar("v"); var.set(C())
os = __import__("os")`,
  "an unraisable exception": raw`class C:
    def __del__(self): raise ValueError("in del")
C()
import gc
print(gc.isenabled(), gc.get_threshold(), gc.garbage)`,
  "an excepthook": raw`import sys
print(sys.excepthook is sys.__excepthook__, hasattr(sys, "last_type"))
sys.excepthook = lambda *a: print("hook", a[0], a[2].tb_frame.f_back)
raise ValueError`,
  warnings: raw`import warnings, sys
print(warnings.filters, sys.warnoptions)
warnings.warn("mine")
warnings.warn("old", DeprecationWarning)
import imp
[].nothing`,
  "an unclosed file": raw`import warnings
warnings.simplefilter("always")
open("/dev/null")
def f(): open("/dev/null")
f()`,
  logging: raw`import logging, time, sys
print(0 <= time.time() - logging._startTime < 0.2)
logging.warning("careful %s", 1)
logging.basicConfig(level="INFO", stream=sys.stdout, force=True, format="%(process)d" and "%(levelname)s %(threadName)s %(processName)s %(module)s %(lineno)d %(message)s")
logging.getLogger("a.b").info("hi")
try: 1 / 0
except ZeroDivisionError: logging.exception("oops")`,
  "standard streams": raw`import sys, os
for s in (sys.stdin, sys.stdout, sys.stderr):
    print(repr(s), s.encoding, s.errors, s.line_buffering, s.write_through, s.isatty(), s.seekable(), s.fileno(), s.mode, s.newlines, type(s.buffer), repr(s.buffer), repr(s.buffer.raw), s.buffer.raw.closefd, s.readable(), s.writable())
print(sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sorted(os.listdir("/proc/self/fd")), os.fstat(0).st_rdev, [os.get_inheritable(i) for i in (0, 1, 2)])
print(repr(sys.stdin.read()), sys.stdin.tell())`,
  "input at the end": raw`name = input("who? ")`,
  buffering: raw`import os, sys
print("printed")
os.write(1, b"written\n")
sys.stderr.write("err without newline")
os.write(2, b"|")
print("x" * 9000)
os.write(1, b"between")`,
  "reconfigured streams": raw`import sys
sys.stdout.reconfigure(encoding="latin-1", line_buffering=True)
print("ü")
sys.stdout.reconfigure(encoding="ascii", errors="backslashreplace")
print("ü")
sys.stderr.reconfigure(write_through=True)
sys.stderr.write("\udc80\n")
sys.stdout.reconfigure(errors="strict")
print("ü")`,
  "closed streams": raw`import sys
sys.stdout.close()
sys.stderr.close()
raise SystemExit(2)`,
  process: raw`import os, resource, time, sys
print(os.getppid(), os.getsid(0) == os.getpid() == os.getpgid(0), os.getcwd(), os.getuid(), os.umask(0), dict(os.environ), os.nice(0))
print(open("/proc/self/cmdline", "rb").read(), open("/proc/self/comm").read(), open("/proc/self/environ", "rb").read() != b"", os.readlink("/proc/self/exe"), os.readlink("/proc/self/cwd"))
print(resource.getrlimit(resource.RLIMIT_STACK), resource.getrlimit(resource.RLIMIT_NOFILE), time.process_time() < 0.1, sys.getswitchinterval(), os.sched_getaffinity(0) == set(range(os.cpu_count())))`,
  "core dumps and ptrace are the process's own": raw`import ctypes, os
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), os.access("/proc/self/mem", os.W_OK), os.stat("/proc/self/status").st_uid)`,
  randomness: raw`import random, uuid, tempfile, secrets, os, sys
pid = os.fork()
print(random.random() != random.Random(1).random(), len({uuid.uuid4() for _ in range(50)}), random.getstate()[0])
random.seed(1); print(random.random(), random.choice("abc"))
if pid == 0: sys.stdout.flush(); os._exit(0)
os.waitpid(pid, 0)`,
  "the site module": raw`import site, builtins, sys
print(site.ENABLE_USER_SITE, site.USER_SITE, site.PREFIXES, exit, quit, copyright, license, help, hasattr(builtins, "_"), sorted(vars(builtins)))
print(sys.displayhook, sys.breakpointhook, hasattr(sys, "ps1"), sys.pycache_prefix, sys.dont_write_bytecode)`,
  sys: raw`import sys
print(sorted(vars(sys)), sys.getfilesystemencoding(), sys.getdefaultencoding(), sys.int_info, sys.get_int_max_str_digits(), sys.implementation, sys.thread_info, sys.getdlopenflags(), sys.get_asyncgen_hooks(), sys.exc_info(), sys.is_finalizing(), sys.platlibdir, sys._base_executable)`,
  "locale and encodings": raw`import locale, codecs, time, os
print(locale.getlocale(), locale.getpreferredencoding(), locale.setlocale(locale.LC_ALL), time.tzname, "ü".encode("idna"), codecs.lookup("utf-16").name, os.fsencode("ü"))`,
  pickling: raw`import pickle, dataclasses, enum, typing, copy
@dataclasses.dataclass(order=True, frozen=True)
class P:
    x: int
    y: typing.List[int] = dataclasses.field(default_factory=list)
class E(enum.Flag): A = 1; B = 2
p = P(1, [2])
print(pickle.loads(pickle.dumps(p)) == p, pickle.dumps(P)[:60], P.__module__, E.A | E.B, copy.deepcopy(p), repr(P), typing.get_type_hints(P))`,
  runpy: raw`import runpy, sys
print(sorted(runpy.run_path("other.py", run_name="x")["seen"]), sys.modules["__main__"].__file__)
runpy.run_module("calendar", run_name="__main__", alter_sys=True) if False else None
exec(compile("print(__name__, __file__)", "inline", "exec"))
print(eval("__name__"))`,
  "a breakpoint": raw`x = 1
breakpoint()
print("after")`,
  faulthandler: raw`import faulthandler, sys
print(faulthandler.is_enabled())
faulthandler.dump_traceback()
sys.stdout.flush()
faulthandler.dump_traceback_later(0.05, exit=True)
import time
time.sleep(5)`,
  "a unittest": raw`import unittest
class T(unittest.TestCase):
    def test_ok(self): self.assertEqual(1, 1)
    def test_bad(self): self.assertEqual(1, 2)
import time
time.perf_counter = lambda: 0
unittest.main(verbosity=0)`,
  "inspection of the source": raw`import inspect, linecache, traceback
def f():
    "doc"
    return 1
print(inspect.getsource(f), inspect.getfile(f), inspect.getmodule(f), linecache.getline(__file__, 1))
print(__file__, __name__, f.__module__, f.__code__.co_filename)
help(f)`,
  "subclasses and abc": raw`import collections, collections.abc, numbers, abc
class M(collections.abc.Mapping):
    def __getitem__(self, k): return 1
    def __len__(self): return 1
    def __iter__(self): return iter("a")
print(dict(M()), isinstance(3, numbers.Number), M.__subclasses__(), collections.OrderedDict(a=1), collections.Counter("aab"))`,
  "generators left open": raw`import asyncio
async def agen():
    try: yield 1
    finally: print("agen closed")
async def main():
    async for x in agen(): break
asyncio.run(main())
async def never(): pass
never()`,
  "C functions that print": raw`import ctypes
libc = ctypes.CDLL(None)
print("python first")
libc.printf(b"from C\n")
libc.puts(b"again")`,
  ctypes: raw`import ctypes, sys
print(sorted(k for k in vars(ctypes.pythonapi) if not k.startswith("_")), ctypes.sizeof(ctypes.c_long), "ctypes.util" in sys.modules)
ctypes.pythonapi.Py_IncRef.argtypes
cb = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda x: x + 1)
print(cb(4), ctypes.pythonapi.PyLong_AsLong(ctypes.py_object(7)))`,
  ...newerPrograms,
  "garbage collection": raw`import gc, weakref
class C: pass
c = C(); c.c = c; w = weakref.ref(c, lambda r: print("gone")); del c
print(gc.collect() >= 1, w(), gc.is_tracked([]), gc.callbacks, gc.get_debug())`,
}

const special: Program[] = [
  {
    name: "its own random",
    code: "import random, tempfile\nprint(random.mine)",
    files: { "random.py": "mine = 1\nRandom = int\n" },
  },
  {
    name: "its own package named like one",
    code: "import json, json.decoder\nprint(json.mine, json.decoder, json.__path__)",
    files: { "json/__init__.py": "mine = 1\n", "json/decoder.py": "" },
  },
  {
    name: "its own module that a preloaded one imports",
    code: "try:\n    import statistics\nexcept ImportError as e:\n    print(e)\nimport bisect\nprint(bisect.mine)",
    files: { "bisect.py": "mine = 1\n" },
  },
  {
    name: "its own optional module",
    code: "import pickle, sys\nprint('org' in sys.modules)",
    files: {
      "org/__init__.py": "print('org')\n",
      "org/python/__init__.py": "",
      "org/python/core.py": "PyStringMap = None\n",
    },
  },
  {
    name: "its own package",
    code: "from pack.sub import deep\nimport pack\nprint(deep.x, pack.__file__, pack.sub.deep is deep)",
    files: {
      "pack/__init__.py": "",
      "pack/sub/__init__.py": "from . import deep\n",
      "pack/sub/deep.py": "x = __name__\n",
    },
  },
  {
    name: "an exception inside its own module",
    code: "import broken",
    files: { "broken.py": "import json\njson.loads('{')\n" },
  },
  {
    name: "frames inside its own module",
    code: "import deep",
    files: {
      "deep.py":
        "import traceback, inspect\ntraceback.print_stack()\nprint(len(inspect.stack()))\nimport json.nope\n",
    },
  },
  { name: "a syntax error in its own module", code: "import broken", files: { "broken.py": "x = = 1\n" } },
  {
    name: "a circular import",
    code: "import one",
    files: { "one.py": "import two\nx = 1\n", "two.py": "from one import x\n" },
  },
  {
    name: "a script in a folder",
    script: "some/folder/run me.py",
    code: "import sys, near\nprint(sys.path[0], __file__, sys.argv)\n1/0",
    files: { "some/folder/near.py": "" },
  },
  {
    name: "a script with odd characters",
    script: "ü 'q\".py",
    code: "print(ascii(__file__))\nraise ValueError('ü')",
    args: ["--help", "-c", "ü", ""],
  },
  {
    name: "a script by a roundabout path",
    script: "./some/../main2.py",
    code: "import sys\nprint(sys.path[0], __file__, sys.argv)",
    files: { "some/x": "" },
  },
  {
    name: "a script by an absolute path",
    script: "/workspace/main3.py",
    code: "import sys\nprint(sys.path[0], __file__, sys.argv)",
  },
  { name: "a script without an ending", script: "tool", code: "print(__file__, __cached__)" },
  {
    name: "a folder that is run",
    script: "app",
    code: "",
    files: { "app/__main__.py": "print(__name__, __file__, __spec__)\n" },
  },
  { name: "a script that is missing", script: "absent.py", code: "" },
  {
    name: "latin-1 with a cookie",
    code: Buffer.from("# -*- coding: latin-1 -*-\nprint(ascii('\u00e4'))\n", "latin1"),
  },
  { name: "bytes that are not UTF-8", code: Buffer.from("print('\u00e4')\n", "latin1") },
  { name: "an unknown cookie", code: "# coding: nothing\nprint(1)\n" },
  { name: "a byte order mark", code: "\u{feff}print(__name__)\n1/0\n" },
  { name: "carriage returns", code: "def f():\r\n  return '''a\r\nb'''\r\nprint(repr(f()))\r\n1/0\r\n" },
  { name: "a long script", code: `${"x = 1\n".repeat(20_000)}print(x)\n` },
  { name: "a string of many lines at the end", code: "print('''a\nb''')\nraise ValueError('''a\nb''')" },
]

const missing = new Set(["a script that is missing", "a folder that is run"])
const others: Record<string, Record<string, string>> = {
  runpy: { "other.py": "seen = [k for k in globals()]\n" },
}

export const preload =
  "json re datetime collections random math os sys subprocess itertools functools pathlib dataclasses typing urllib.request csv statistics hashlib asyncio logging threading tempfile multiprocessing".split(
    " ",
  )

export const programs: Program[] = [
  ...Object.entries(plain).map(([name, code]) => ({
    name,
    code,
    ...(others[name] && { files: others[name] }),
  })),
  ...special,
]

export function hasScript(program: Program): boolean {
  return !missing.has(program.name)
}
