# Process 1 of a sandbox container: does what the host asks in frames. The protocol is in README.md beside this file.
MAIN_AT_START = dict(globals())
import sys

# To run a command, not to run a script, 3.13 and later import linecache, and keep the source in it.
if sys.version_info >= (3, 13) and next(reversed(sys.modules)) == "linecache":
    del sys.modules["linecache"]
MODULES_AT_START = dict(sys.modules)
IMPORTERS_AT_START = set(sys.path_importer_cache) - ({sys.modules["os"].getcwd()} - set(sys.path))
# A planted json.py in the workspace must not be imported by the agent; and warnings blame this name, not __main__.
sys.path[:1] = [entry for entry in sys.path[:1] if entry]
__name__ = "glovebox"

import builtins, os, time
import _signal as signal
import _thread

CODE = sys._getframe().f_code
FRAME_MAX, CHUNK, OUTBOX_HIGH, INBOX_HIGH = 1 << 20, 65536 - 5, 256 << 10, 4 << 20
SIGNALS = set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}
PR_SET_DUMPABLE, PR_SET_MM, PR_SET_MM_MAP = 4, 35, 14
NO_PROGRAM, ENOEXEC = (FileNotFoundError, PermissionError, NotADirectoryError, ValueError), 8
BOOTSTRAP_FILE = "<frozen importlib._bootstrap>"


def keep_openssl_at_exit():
    """OpenSSL would tidy up its memory at the end of every program, also of those that never used it."""
    for name in ("libcrypto.so.3", "libcrypto.so.1.1"):
        try:
            OPENSSL_INIT_NO_ATEXIT = ctypes.c_uint64(0x80000)
            ctypes.CDLL(name).OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, None)
            return
        except (OSError, AttributeError):
            pass


class ImportRecorder:
    """Imports modules and notes who imported what, so that they can be hidden and come back as by a native import."""

    def __init__(self):
        self.bootstrap = sys.modules["_frozen_importlib"]
        self.imports, self.lookups, self.exit_calls = {}, {}, {}
        self.known, self.count, self.loading = set(sys.modules), len(sys.modules), [""]
        self.load, self.native_import = self.bootstrap._load_unlocked, builtins.__import__
        self.bootstrap._load_unlocked, builtins.__import__ = self.note_load, self.note_import
        import atexit

        self.atexit, self.register = atexit, atexit.register
        atexit.register = self.note_exit_call

    def stop(self):
        self.bootstrap._load_unlocked, builtins.__import__ = self.load, self.native_import
        self.atexit.register = self.register

    def note(self, name):
        self.imports.setdefault(self.loading[-1], []).append(name)

    def note_own(self):
        """Names that a module puts into sys.modules by itself (collections.abc) belong to it."""
        if len(sys.modules) != self.count:
            self.count, fresh = len(sys.modules), sys.modules.keys() - self.known - self.imports.keys()
            for name in [name for name in sys.modules if name in fresh] if fresh else ():
                self.known.add(name)
                self.note(name)

    def note_load(self, spec):
        self.note_own()
        self.note(spec.name)
        self.imports[spec.name] = []
        if spec.name in ("_hashlib", "_ssl"):
            keep_openssl_at_exit()
        searched = spec.origin not in ("built-in", "frozen")
        self.lookups.setdefault(spec.name, set()).update([spec.name.partition(".")[0]] if searched else [])
        self.loading.append(spec.name)
        try:
            module = self.load(spec)
            self.note_own()
            return module
        finally:
            self.loading.pop()

    def note_import(self, name, globals=None, locals=None, fromlist=(), level=0):
        self.note_own()
        try:
            module = self.native_import(name, globals, locals, fromlist, level)
        except ImportError:
            self.lookups.setdefault(self.loading[-1], set()).add(name.partition(".")[0])
            raise
        if level:
            package = globals.get("__package__") or globals["__name__"]
            name = ".".join(package.split(".")[: len(package.split(".")) - level + 1] + ([name] if name else []))
        self.note(name)
        for item in fromlist or ():
            if name + "." + str(item) in sys.modules:
                self.note(name + "." + item)
        return module

    def note_exit_call(self, call, *args, **options):
        self.exit_calls.setdefault(self.loading[-1], []).append((call, args, options))
        return call


def restart_clock(logging):
    logging._startTime = time.time_ns() if isinstance(logging._startTime, int) else time.time()


def note_folder(process):
    process.ORIGINAL_DIR = os.path.abspath(os.getcwd())


# What a module works out when it is imported, and a program would see to be older than itself.
REFRESH = {
    "logging": restart_clock,
    "multiprocessing.process": note_folder,
    "numpy.random": lambda module: module.seed(),
}


def is_monitored():
    monitoring = getattr(sys, "monitoring", None)
    return monitoring and any(map(monitoring.get_tool, range(6)))


class HiddenModules:
    """Modules that are loaded but not in sys.modules; an import finds them where it would have found their files."""

    def __init__(self, recorder):
        self.recorder, self.bootstrap = recorder, recorder.bootstrap
        self.external = sys.modules["_frozen_importlib_external"]
        self.find, self.importer_of = self.bootstrap._find_spec, self.external.PathFinder._path_importer_cache
        self.asking = self.bootstrap._find_and_load_unlocked.__code__
        self.path, self.meta_path, self.hooks = list(sys.path), list(sys.meta_path), list(sys.path_hooks)
        self.known = dict(sys.modules)
        self.hidden = {name: module for name, module in self.known.items() if name not in MODULES_AT_START}
        self.specs = {name: getattr(module, "__spec__", None) for name, module in self.hidden.items()}
        self.attached = set()
        for name, module in self.hidden.items():
            parent, _, tail = name.rpartition(".")
            if parent and vars(self.known[parent]).get(tail) is module:
                self.attached.add(name)
                delattr(self.known[parent], tail)
        for name in self.hidden:
            del sys.modules[name]

        def _find_spec(name, path, target=None):
            if name in self.hidden and sys._getframe(1).f_code is self.asking and self.is_untouched(name):
                return self.bootstrap.ModuleSpec(name, self)
            return self.find(name, path, target)

        # With this file name the interpreter trims the frame from tracebacks, as it trims its own.
        _find_spec.__code__ = _find_spec.__code__.replace(co_filename=BOOTSTRAP_FILE)
        self.bootstrap._find_spec = _find_spec

    def is_untouched(self, wanted):
        """Whether a native import would load this module, and all that it imports, from the very same files."""
        if sys.gettrace() or sys.getprofile() or is_monitored() or builtins.__import__ is not self.recorder.native_import:
            return False
        if sys.meta_path != self.meta_path or sys.path_hooks != self.hooks:
            return False
        visited, names, searched = set(), [wanted], set()
        while names:
            name = names.pop()
            if name in visited:
                continue
            visited.add(name)
            if name not in self.hidden:
                if sys.modules.get(name) is not self.known.get(name):
                    return False
                continue
            if name in sys.modules:
                return False
            searched |= self.recorder.lookups.get(name, set())
            names += self.recorder.imports.get(name, [])
            if "." in name:
                names.append(name.rpartition(".")[0])
        return not searched or self.is_first_found(searched)

    def is_first_found(self, searched):
        before = sys.path.index(self.path[0]) if self.path[0] in sys.path else len(sys.path)
        if sys.path[before : before + len(self.path)] != self.path:
            return False
        for entry in sys.path[:before]:
            finder = self.importer_of(entry)
            if finder is None:
                continue
            # Looking for one name makes the finder read its folder again if that has changed.
            if type(finder) is not self.external.FileFinder or finder.find_spec(next(iter(searched))):
                return False
            if not searched.isdisjoint(file.partition(".")[0] for file in finder._path_cache):
                return False
        return True

    def create_module(self, spec):
        return self.hidden.pop(spec.name)

    def exec_module(self, module):
        name = module.__spec__.name
        module.__spec__ = self.specs[name]
        self.complete(name, module)

    def complete(self, name, module):
        for other in self.recorder.imports.get(name, ()):
            self.bring_back(other)
        if name in REFRESH:
            REFRESH[name](module)
        for call, args, options in self.recorder.exit_calls.get(name, ()):
            self.recorder.register(call, *args, **options)

    def bring_back(self, name):
        module = self.hidden.pop(name, None)
        if module is None:
            return
        parent, _, tail = name.rpartition(".")
        self.bring_back(parent)
        sys.modules[name] = module
        self.complete(name, module)
        # The native import also moves a module behind what it imported.
        sys.modules[name] = sys.modules.pop(name, module)
        if name in self.attached and parent in sys.modules:
            setattr(sys.modules[parent], tail, module)


def record_imports():
    try:
        return ImportRecorder()
    except Exception:
        return None


recorder = record_imports()
import _codecs, _collections, _functools, _weakref, gc, itertools, resource, select

# The package json takes longer to import than all else, for the sake of re.
from _json import encode_basestring_ascii as quote, make_scanner

try:
    import ctypes
except ImportError:
    ctypes = None


def read_text(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def read_mounts():
    """Every mount point and whether it is read-only, which gVisor tells nowhere else."""
    try:
        with open("/proc/self/mountinfo", "rb") as file:
            lines = [line.split() for line in file]
        return {_codecs.escape_decode(words[4])[0]: b"ro" in words[5].split(b",") for words in lines}
    except (OSError, IndexError, ValueError):
        return {}


def number(text):
    text = text.strip()
    return int(text) if text.isdigit() and int(text) < 1 << 62 else None


def ratio(quota, period):
    quota, period = number(quota), number(period)
    return quota / period if quota and period else None


def cgroup_facts():
    root = "/sys/fs/cgroup/"
    if os.path.exists(root + "cgroup.controllers"):
        quota, _, period = read_text(root + "cpu.max").partition(" ")
        files = ("memory.max", "memory.swap.max", "pids.max")
        memory, swap, pids = (number(read_text(root + name)) for name in files)
        return {"version": 2, "memory": memory, "swap": swap, "pids": pids, "cpus": ratio(quota, period)}
    if not os.path.isdir(root + "memory"):
        return {"version": None, "memory": None, "swap": None, "pids": None, "cpus": None}
    files = ("memory/memory.limit_in_bytes", "memory/memory.memsw.limit_in_bytes", "pids/pids.max")
    memory, swap, pids = (number(read_text(root + name)) for name in files)
    cpus = ratio(read_text(root + "cpu/cpu.cfs_quota_us"), read_text(root + "cpu/cpu.cfs_period_us"))
    return {"version": 1, "memory": memory, "swap": swap, "pids": pids, "cpus": cpus}


def find_program(name):
    if "/" in name:
        return name
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def gather_facts(config, ready):
    status = dict(line.split(":\t", 1) for line in read_text("/proc/self/status").splitlines() if ":\t" in line)
    names = ("NoNewPrivs", "Seccomp", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "Uid", "Gid", "Groups")
    interfaces = [line.split(":")[0].strip() for line in read_text("/proc/net/dev").splitlines()[2:] if ":" in line]
    space = os.statvfs(".")
    return {
        "version": 1,
        "python": "%d.%d.%d" % sys.version_info[:3],
        "uid": os.getuid(),
        "gid": os.getgid(),
        "status": {name: status[name].strip() if name in status else None for name in names},
        "programs": {name: find_program(name) for name in config.get("programs", [])},
        "interfaces": interfaces or None,
        "root": {"readOnly": bool(os.statvfs("/").f_flag & os.ST_RDONLY) or read_mounts().get(b"/", False)},
        "workspace": {"bytes": space.f_blocks * space.f_frsize or None, "files": space.f_files or None},
        "cgroup": cgroup_facts(),
        "ready": ready,
    }


class LimitCounters:
    """How often the kernel refused memory or a process, kept open because reading is on the path of every block."""

    FILES = {
        "memory": ("memory.events", "memory/memory.oom_control", b"oom_kill"),
        "pids": ("pids.events", "pids/pids.events", b"max"),
    }

    def __init__(self):
        self.open = {}
        for limit, (unified, legacy, key) in self.FILES.items():
            for path in (unified, legacy):
                try:
                    self.open[limit] = (os.open("/sys/fs/cgroup/" + path, os.O_RDONLY | os.O_CLOEXEC), key)
                    break
                except OSError:
                    pass

    def read(self):
        counts = {}
        for limit, (file, key) in self.open.items():
            fields = os.pread(file, 1024, 0).split()
            counts[limit] = int(fields[fields.index(key) + 1]) if key in fields else 0
        return counts

    def hit_since(self, before):
        hit = [limit for limit, count in self.read().items() if count > before.get(limit, 0)]
        try:
            space = os.statvfs(".")
        except OSError:
            return hit
        if (space.f_blocks and not space.f_bavail) or (space.f_files and not space.f_ffree):
            hit.append("workspace")
        return hit


class Refusal(Exception):
    """A frame that cannot be done; its fields go into the answer."""

    def __init__(self, message, **fields):
        super().__init__(message)
        self.fields = dict(fields, message=message)


class Workspace:
    """Files by paths of which no component is ever followed if it is a link."""

    def __init__(self):
        self.root = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.device, self.mounts = os.fstat(self.root).st_dev, self.find_mounts()
        self.seen = {}

    @staticmethod
    def find_mounts():
        """What is mounted below the workspace, which may be a part of the same device."""
        workspace = os.path.join(os.fsencode(os.getcwd()), b"")
        return {os.fsdecode(point[len(workspace) :]) for point in read_mounts() if point.startswith(workspace)}

    @staticmethod
    def signature(info):
        return (info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)

    def open_folder_of(self, path, make=False):
        parts = path.split("/") if isinstance(path, str) and "\0" not in path else [""]
        if any(part in ("", ".", "..") for part in parts):
            raise ValueError("not a path inside the workspace")
        folder = os.dup(self.root)
        for part in parts[:-1]:
            # gVisor follows a link that is opened as a folder to be read; not so with O_PATH.
            flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                try:
                    inner = os.open(part, flags, dir_fd=folder)
                except FileNotFoundError:
                    if not make:
                        raise
                    os.mkdir(part, 0o755, dir_fd=folder)
                    inner = os.open(part, flags, dir_fd=folder)
            finally:
                os.close(folder)
            folder = inner
        return folder, parts[-1]

    def create(self, path):
        folder, name = self.open_folder_of(path, make=True)
        try:
            self.clear(name, folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            return os.open(name, flags, 0o600, dir_fd=folder)
        finally:
            os.close(folder)

    def clear(self, name, folder):
        """Takes away what has the name, a folder with all that is in it: no program may keep a block from its file."""
        try:
            os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            pass
        except IsADirectoryError:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            try:
                for entry in os.listdir(inner):
                    self.clear(entry, inner)
            except RecursionError:
                raise OSError("a folder too deep to be replaced")
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=folder)

    def reopen(self):
        """A program may have closed the workspace to everyone."""
        try:
            mode = os.fstat(self.root).st_mode & 0o7777
            if mode & 0o700 != 0o700:
                os.fchmod(self.root, mode | 0o700)
        except OSError:
            pass

    def remove(self, path):
        self.seen.pop(path, None)
        try:
            folder, name = self.open_folder_of(path)
        except FileNotFoundError:
            return
        try:
            os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            pass
        finally:
            os.close(folder)

    def walk(self, folder, prefix, depth, skip):
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
        for name in names:
            try:
                path = prefix + name
                path.encode()
                if path in self.mounts:
                    continue
                info = os.stat(name, dir_fd=folder, follow_symlinks=False)
                kind = info.st_mode & 0o170000
                if kind != 0o100000 and (kind != 0o040000 or depth >= 64):
                    raise ValueError("neither a file nor a folder")
                inner = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
            except (OSError, ValueError):
                skip.append(path)
                continue
            try:
                info = os.fstat(inner)
                if info.st_mode & 0o170000 == 0o040000 and info.st_dev == self.device:
                    yield from self.walk(inner, path + "/", depth + 1, skip)
                elif info.st_mode & 0o170000 == 0o100000:
                    yield path, inner, info
            finally:
                os.close(inner)

    def is_unreadable(self, path):
        try:
            info = os.stat(path, dir_fd=self.root, follow_symlinks=False)
        except (OSError, ValueError):
            return False
        return info.st_mode & 0o170000 in (0o040000, 0o100000)

    def collect(self, max_files, max_bytes):
        files, total, skip, over, present = 0, 0, [], False, set()
        for path, file, info in self.walk(self.root, "", 0, skip):
            present.add(path)
            if self.seen.get(path) == self.signature(info):
                continue
            over = over or files + 1 > max_files or total + info.st_size > max_bytes
            if over:
                continue
            files, total = files + 1, total + info.st_size
            yield b"f", encode({"path": path, "size": info.st_size, "mode": info.st_mode & 0o777})
            left = info.st_size
            while left:
                data = os.read(file, min(CHUNK, left)) or bytes(min(CHUNK, left))
                left -= len(data)
                yield b"d", data
            self.seen[path] = self.signature(info)
        # What cannot be read is not gone, nor is what lies below it.
        hidden = {path for path in skip if self.is_unreadable(path)}
        for path in sorted(self.seen.keys() - present):
            if any(path[:at] in hidden for at, letter in enumerate(path + "/") if letter == "/"):
                over = True
                continue
            del self.seen[path]
            yield b"v", encode({"path": path})
        yield b"c", encode({"files": files, "bytes": total, "skipped": len(skip), "over": over})


class Put:
    """A file on its way in; after a failure it swallows what is still to come."""

    def __init__(self, workspace, header):
        self.workspace, self.path, self.left = workspace, header.get("path"), header.get("size")
        self.mode, self.file = header.get("mode", 0o644), None
        if not (isinstance(self.left, int) and self.left >= 0 and isinstance(self.mode, int)):
            raise Refusal("size and mode must be numbers", path=self.path)

    def attempt(self, action):
        try:
            return action()
        except (OSError, ValueError) as error:
            self.abandon()
            raise Refusal(getattr(error, "strerror", None) or str(error), path=self.path)

    def begin(self):
        self.file = self.attempt(lambda: self.workspace.create(self.path))

    def write(self, data):
        extra = len(data) - self.left
        self.left -= len(data)
        if extra > 0:
            self.abandon()
            raise Refusal("more bytes than the size says", path=self.path)
        if self.file is not None:
            self.attempt(lambda: self.store(data))

    def store(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self.file, view) :]
        if not self.left:
            os.fchmod(self.file, self.mode & 0o777)
            self.workspace.seen[self.path] = Workspace.signature(os.fstat(self.file))
            os.close(self.file)
            self.file = None

    def abandon(self):
        if self.file is None:
            return
        os.close(self.file)
        self.file = None
        try:
            self.workspace.remove(self.path)
        except (OSError, ValueError):
            pass


def encode(value):
    return "".join(json_parts(value)).encode()


def json_parts(value):
    if isinstance(value, str):
        yield quote(value)
    elif value is None or isinstance(value, bool):
        yield {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, dict):
        yield "{"
        for at, (key, item) in enumerate(value.items()):
            yield ("," if at else "") + quote(key) + ":"
            yield from json_parts(item)
        yield "}"
    elif isinstance(value, (list, tuple)):
        yield "["
        for at, item in enumerate(value):
            yield "," if at else ""
            yield from json_parts(item)
        yield "]"
    else:
        yield repr(value)


class JsonRules:
    strict, object_hook, object_pairs_hook = True, None, None
    parse_float, parse_int, parse_constant, memo = float, int, float, {}


scan = make_scanner(JsonRules)


def decode(payload):
    try:
        text = payload.decode("utf-8")
        value, end = scan(text, 0)
        if end != len(text):
            raise ValueError("something behind it")
    except (ValueError, RecursionError, StopIteration, SystemError, ImportError) as error:
        # The last two, because the C scanner looks for json.decoder in sys.modules to raise from it.
        raise Refusal("bad JSON: %s" % error)
    if not isinstance(value, dict):
        raise Refusal("bad JSON: not an object")
    return value


class Block:
    """A program that runs, or that is ready to run: its process and the reading ends of its two streams."""

    def __init__(self):
        self.out, self.out_writer = os.pipe()
        self.err, self.err_writer = os.pipe()
        self.pid = self.status = self.id = self.job = None
        self.before = {}

    def started(self, pid):
        self.pid = pid
        os.close(self.out_writer)
        os.close(self.err_writer)

    def drop(self):
        for file in (self.out, self.err, self.job):
            if file is not None:
                os.close(file)

    def spawn(self, path, argv, environment, oom_score):
        streams = [(os.POSIX_SPAWN_DUP2, self.out_writer, 1), (os.POSIX_SPAWN_DUP2, self.err_writer, 2)]
        try:
            with oom_score:
                pid = self.start(path, argv, environment, streams)
        except BaseException:
            self.started(None)
            self.drop()
            raise
        self.started(pid)

    def start(self, path, argv, environment, streams):
        try:
            return os.posix_spawn(path, argv, environment, file_actions=streams, setsid=True, setsigdef=SIGNALS)
        except (AttributeError, NotImplementedError):
            return self.fork_and_exec(path, argv, environment)

    def fork_and_exec(self, path, argv, environment):
        pid = os.fork()
        if pid:
            return pid
        try:
            os.setsid()
            self.take_streams()
            for number in SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            os.execve(path, argv, environment)
        finally:
            os._exit(127)

    def take_streams(self):
        os.dup2(self.out_writer, 1)
        os.dup2(self.err_writer, 2)


class HighOomScore:
    """What is started within inherits that the kernel kills it first when memory ends; in an exec it cannot be set."""

    def __init__(self):
        try:
            self.file = os.open("/proc/self/oom_score_adj", os.O_RDWR | os.O_CLOEXEC)
            self.own = os.read(self.file, 16)
        except OSError:
            self.own = b""

    def __enter__(self):
        self.write(b"1000")

    def __exit__(self, *_):
        self.write(self.own)

    def write(self, score):
        try:
            if self.own:
                os.pwrite(self.file, score, 0)
        except OSError:
            pass


def native_environment():
    """The environment without what this interpreter's own start added to it (PEP 538)."""
    given = {entry.partition("=")[0] for entry in read_text("/proc/self/environ").split("\0")}
    return {key: value for key, value in os.environ.items() if key != "LC_CTYPE" or key in given}


class ReadyInterpreter:
    """Runs scripts in forks of this interpreter that look like a new `python3 script`.

    A thread forks, and calls the interpreter's own main functions with nothing but C below them, so that there is no
    frame of the agent under the program.
    """

    def __init__(self, preload, touches, oom_score):
        if (sys.version_info >= (3, 12) and sys.warnoptions) or not getattr(sys, "_is_gil_enabled", lambda: True)():
            # A fork with threads warns since 3.12, and the warning may be made an error.
            raise NotImplementedError
        self.libc, python = ctypes.CDLL(None), ctypes.PyDLL(None)
        self.libc.fopen.restype = self.libc.sbrk.restype = ctypes.c_void_p
        self.libc.exit.argtypes = [ctypes.c_int, ctypes.py_object]
        self.leak = python.Py_IncRef
        run, leave = python.PyRun_AnyFileExFlags, python.Py_Exit
        run.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
        self.thread_state = python.PyThreadState_Get
        self.thread_state.restype = ctypes.c_void_p
        self.run_main = getattr(python, "_PyInterpreterState_SetRunningMain", None)
        if self.run_main:
            self.run_main.argtypes, python.PyInterpreterState_Get.restype = [ctypes.c_void_p], ctypes.c_void_p
            self.interpreter = python.PyInterpreterState_Get()
        self.main_thread = self.find_main_thread(python)
        self.layout = [int(field) for field in read_text("/proc/self/stat").rpartition(")")[2].split()[1:]]
        self.roots = self.site_state()
        self.touches = touches
        self.preloading = iter(preload if recorder else ())
        gc.disable()
        self.reopen_stdin()
        self.wanted, self.forked = _thread.allocate_lock(), _thread.allocate_lock()
        self.wanted.acquire(), self.forked.acquire()
        self.block, self.failure, self.oom_score = None, None, oom_score
        programs = itertools.starmap(run, iter(self.next_program, None))
        # As much stack as a main thread gets: the default of a thread is less in musl.
        limit = resource.getrlimit(resource.RLIMIT_STACK)[0]
        _thread.stack_size(limit if 1 << 20 <= limit <= 1 << 26 else 1 << 26)
        _thread.start_new_thread(_collections.deque, (map(leave, map(self.exit_code, programs)), 0))
        _thread.stack_size(0)

    @property
    def is_warm(self):
        return self.preloading is None

    def warm_up_further(self):
        """One module more, or the last step; the host is not kept waiting for it."""
        name = next(self.preloading, None)
        if name is None:
            self.hide_preloaded()
            self.preloading = None
            return self.try_out()
        try:
            __import__(name)
        except Exception:
            pass

    def preload_no_more(self):
        """From now on there are files in the workspace, none of which may be taken for a module of the library."""
        if not self.is_warm:
            self.preloading = iter(())

    def try_out(self):
        """Runs an empty program: in an interpreter whose insides are unlike those known it may crash or hang."""
        block = self.fork()
        self.give(block, ["python3", os.devnull])
        poller = select.poll()
        poller.register(block.err, 0)
        if not poller.poll(5000):
            os.kill(block.pid, signal.SIGKILL)
        status = os.waitpid(block.pid, 0)[1]
        output = os.read(block.out, 1) + os.read(block.err, 1)
        block.drop()
        if status or output:
            raise NotImplementedError

    def find_main_thread(self, python):
        """Where 3.13 and later keep the main thread's number and state; the state is what they finalize with."""
        if sys.version_info < (3, 13):
            return None
        words = (ctypes.c_size_t * 1024).in_dll(python, "_PyRuntime")
        (at,) = self.find_pair(words, _thread.get_ident(), self.thread_state())
        return (ctypes.c_size_t * 2).from_address(ctypes.addressof(words) + at * ctypes.sizeof(ctypes.c_size_t))

    @staticmethod
    def find_pair(words, first, second):
        values = list(words)
        return [at for at, pair in enumerate(zip(values, values[1:])) if pair == (first, second)]

    @staticmethod
    def hide_preloaded():
        if recorder:
            recorder.stop()
        hide_modules()
        for entry in sys.path_importer_cache.keys() - IMPORTERS_AT_START:
            del sys.path_importer_cache[entry]
        gc.enable()
        gc.freeze()

    @staticmethod
    def reopen_stdin():
        """The control stream was behind the interpreter's stdin; a program's is /dev/null, which can seek."""
        old = sys.stdin
        buffer = open(0, "rb", closefd=False)
        buffer.raw.name = "<stdin>"
        options = {"newline": "\n", "line_buffering": old.line_buffering, "write_through": old.write_through}
        sys.stdin = sys.__stdin__ = type(old)(buffer, encoding=old.encoding, errors=old.errors, **options)
        sys.stdin.mode = "r"

    @staticmethod
    def site_state():
        """Changes when a package is installed: only a new interpreter would know it."""
        user_site = getattr(MODULES_AT_START.get("site"), "USER_SITE", None)
        state = []
        for entry in sys.path + [user_site or "/"]:
            try:
                state.append(os.stat(entry).st_mtime_ns)
            except OSError:
                state.append(None)
        return state

    def can_run(self, argv, path):
        if path != sys.executable or len(argv) < 2 or argv[1][:1] in ("", "-") or self.site_state() != self.roots:
            return False
        try:
            file = os.open(argv[1], os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            info = os.fstat(file)
            # A zip archive runs the __main__.py in it: left to the native start.
            tail = os.pread(file, 66000, max(0, info.st_size - 66000))
            return info.st_mode & 0o170000 == 0o100000 and b"PK\5\6" not in tail
        except OSError:
            return False
        finally:
            os.close(file)

    def fork(self):
        """A block whose process waits for its arguments."""
        self.block = block = Block()
        self.job_reader, block.job = os.pipe()
        with self.oom_score:
            self.wanted.release()
            self.forked.acquire()
        os.close(self.job_reader)
        block.started(block.pid)
        if block.pid is None:
            block.drop()
            raise self.failure
        return block

    @staticmethod
    def give(block, argv):
        view = memoryview(b"".join(os.fsencode(word) + b"\0" for word in argv))
        while view:
            view = view[os.write(block.job, view) :]
        os.close(block.job)
        block.job = None

    def next_program(self):
        while True:
            self.wanted.acquire()
            try:
                pid = os.fork()
            except Exception as error:
                self.failure = OSError(*error.args)
            else:
                if not pid:
                    return self.become_program()
                self.block.pid = pid
            self.forked.release()

    def become_program(self):
        try:
            os.setsid()
            self.become_main_thread()
            job = os.dup2(self.job_reader, 3) if self.job_reader != 3 else 3
            self.block.take_streams()
            os.closerange(4, 64)
            signal.set_wakeup_fd(-1)
            for number in SIGNALS - {signal.SIGPIPE, signal.SIGXFSZ}:
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            main = type(sys)("__main__")
            main.__dict__.update(MAIN_AT_START)
            if "__annotations__" in MAIN_AT_START:
                main.__annotations__ = {}
            sys.modules["__main__"] = main
            if self.touches:
                self.touch_memory()
            data = b"".join(iter(lambda: os.read(job, 65536), b""))
            os.close(job)
            if not data:
                os._exit(0)
            self.libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
            self.show_command(data)
            argv = os.fsdecode(data).split("\0")[:-1]
            return self.arrange(argv)
        except BaseException:
            os._exit(125)

    def touch_memory(self):
        """Under gVisor the first use of each page after a fork is what a run takes longest for: done before it is asked."""
        for line in read_text("/proc/self/maps").splitlines():
            span, access, _, _, _, name = (line.split(None, 5) + [""])[:6]
            start, end = (int(text, 16) for text in span.split("-"))
            if access[0] != "r" or end - start > 32 << 20 or name.startswith(("[v", "[stack]")):
                continue
            for address in range(start, end, 4096):
                if access[1] == "w":
                    ctypes.memmove(address, address, 1)
                else:
                    ctypes.string_at(address, 1)

    def become_main_thread(self):
        """Since 3.13 the interpreter does not do all of this after a fork in another thread."""
        if self.main_thread:
            self.main_thread[1] = self.thread_state()
        try:
            self.run_main(self.interpreter)
        except Exception:
            pass  # It is running, or this version does not note it.

    def arrange(self, argv):
        script = argv[1]
        sys.argv[:] = argv[1:]
        if hasattr(sys, "orig_argv"):
            sys.orig_argv[:] = argv
        if not getattr(sys.flags, "safe_path", False):
            sys.path.insert(0, os.path.dirname(os.path.realpath(script)))
        if sys.version_info >= (3, 9) and not script.startswith("/"):
            script = os.path.join(os.getcwd(), script)
        sys.path_importer_cache[script] = None
        if sys.version_info < (3, 12):
            self.level_recursion()
        return self.libc.fopen(os.fsencode(script), b"rbe"), os.fsencode(script), 1, None

    def level_recursion(self):
        """Up to 3.11 the two C calls under the program count as frames: gives them back."""
        counters = (ctypes.c_int * 16).from_address(self.thread_state())
        limit = sys.getrecursionlimit()
        if sys.version_info < (3, 11):
            counters[8] -= 2 if 2 < counters[8] < 30 else 0
            return
        for at in range(15):
            if counters[at + 1] == limit and limit - 30 < counters[at] < limit:
                counters[at] += 2
                return

    def show_command(self, data):
        """Makes /proc/self/cmdline tell the program's arguments, where the kernel lets us."""
        if len(self.layout) < 48:
            return
        code, code_end, stack = self.layout[22:25]
        area, brk, area_end, env, env_end = self.layout[41:44], self.libc.sbrk(0), *self.layout[45:48]
        start = self.layout[44]
        if len(data) > area_end - start:
            return
        ctypes.memmove(start, data, len(data))
        layout = (code, code_end, *area, brk, stack, start, start + len(data), env, env_end, 0, 0xFFFFFFFF << 32)
        memory_map = (ctypes.c_uint64 * 13)(*layout)
        address = ctypes.c_ulong(ctypes.addressof(memory_map))
        if self.libc.prctl(PR_SET_MM, PR_SET_MM_MAP, address, ctypes.c_ulong(104), ctypes.c_ulong(0)):
            ctypes.memset(start + len(data), 0, area_end - start - len(data))

    def exit_code(self, failed):
        if failed and getattr(sys, "last_type", None) is KeyboardInterrupt:
            # raise(SIGINT) after all else, as an interpreter ends that was interrupted.
            getattr(self.libc, "__cxa_atexit")(getattr(self.libc, "raise"), int(signal.SIGINT), None)
        code = 1 if failed else 0
        if sys.version_info[:2] == (3, 11) and sys.stdout is sys.__stdout__ and sys.stderr is sys.__stderr__:
            self.shorten_exit(code, [sys.stdout, sys.stderr])
        return code

    def shorten_exit(self, code, streams):
        """Ends the process once all that a program can see is taken down: freeing the rest would cost half of the run."""
        leave, register, reference = _functools.partial(self.libc.exit, code), _codecs.register_error, _weakref.ref

        def sys_is_cleared(_):
            try:
                for stream in streams:
                    stream.closed or stream.flush()
            except Exception:
                return  # The interpreter found the same and exits with 120.

            def freed_last(error):
                pass

            kept.append(reference(freed_last, leave))
            register("glovebox", freed_last)

        kept = [reference(sys.__stdin__, sys_is_cleared)]
        self.leak(ctypes.py_object(kept))


def hide_modules():
    try:
        hidden = HiddenModules(recorder)
        # Never freed: taking all of it apart at the end of each program would cost more than the program.
        ctypes.PyDLL(None).Py_IncRef(ctypes.py_object(hidden))
    except Exception:
        for name in [name for name in sys.modules if name not in MODULES_AT_START]:
            del sys.modules[name]


class Agent:
    def __init__(self, config):
        self.lease = config.get("lease") or None
        self.inbox, self.outbox, self.waiting, self.waiting_bytes = bytearray(), bytearray(), [], 0
        self.put = self.block = self.spare = self.collecting = None
        self.heard, self.may_warm = time.monotonic(), False
        self.take_streams()
        self.workspace, self.limits, self.oom_score = Workspace(), LimitCounters(), HighOomScore()
        self.environment = native_environment()
        self.ready = self.warm_up(config.get("preload"), config.get("touch"))
        self.wants_spare = self.ready is not None
        while config.get("eager") and self.ready and not self.ready.is_warm:
            self.warm_up_further()
        self.close_process()
        if config.get("share"):
            self.share()
        self.greet(gather_facts(config, self.ready is not None))

    def greet(self, facts):
        self.send(b"R", encode(facts))

    def take_streams(self):
        """Moves the control streams away from where a program, or a stray print, would meet them."""
        self.control, self.answers = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        os.close(nothing)
        os.set_blocking(self.answers, False)
        self.wake, wake_writer = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(wake_writer, False)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        # Process 1 with threads is not safe from signals it leaves at their default: the kernel has a gap while one is blocked.
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def warm_up(self, preload, touches):
        try:
            return ReadyInterpreter(preload, touches, self.oom_score) if ctypes and preload is not None else None
        except Exception:
            if recorder:
                recorder.stop()
            return None

    def warm_up_further(self):
        try:
            self.ready.warm_up_further()
        except Exception:
            self.ready, self.wants_spare = None, False

    @staticmethod
    def close_process():
        """Refuses /proc/1/fd, /proc/1/mem and ptrace to programs of the same user."""
        if ctypes:
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)

    def share(self):
        """Gives this program as it was compiled, for containers to come; never after code of others has run."""
        try:
            import marshal, zlib

            self.send(b"s", zlib.compress(marshal.dumps(CODE)))
        except ImportError:
            pass

    def send(self, kind, payload=b""):
        self.outbox += kind + len(payload).to_bytes(4, "big") + payload
        self.flush()

    def flush(self):
        try:
            while self.outbox:
                del self.outbox[: os.write(self.answers, self.outbox)]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self.leave(0)

    def leave(self, code):
        sweep()
        os._exit(code)

    def damaged(self, message):
        os.write(2, ("glovebox resident: %s\n" % message).encode())
        self.leave(2)

    def serve(self):
        while True:
            ready = dict(self.poll())
            if not ready:
                self.prepare_spare()
            if self.control in ready:
                self.hear()
            if self.answers in ready:
                self.flush()
            if self.block:
                self.relay(ready)
            if self.wake in ready:
                self.reap()
            self.go_on()

    def poll(self):
        poller = select.poll()
        self.watch(poller)
        return poller.poll(self.patience())

    def watch(self, poller):
        poller.register(self.wake, select.POLLIN)
        if len(self.inbox) + self.waiting_bytes < INBOX_HIGH:
            poller.register(self.control, select.POLLIN)
        if self.outbox:
            poller.register(self.answers, select.POLLOUT)
        if self.block and len(self.outbox) < OUTBOX_HIGH:
            for file in (self.block.out, self.block.err):
                if file is not None:
                    poller.register(file, select.POLLIN)

    def patience(self):
        """Milliseconds until there is something to do without an event."""
        if self.block or self.collecting:
            return None
        if self.may_warm and self.ready and not self.ready.is_warm:
            return 0
        if self.wants_spare and self.ready.is_warm:
            return 2
        if self.lease is None:
            return None
        left = self.heard + self.lease - time.monotonic()
        if left <= 0:
            self.leave(0)
        return int(left * 1000) + 1

    def hear(self):
        data = os.read(self.control, 1 << 18)
        if not data:
            self.leave(0)
        self.inbox += data
        at = 0
        while len(self.inbox) - at >= 5:
            size = int.from_bytes(self.inbox[at + 1 : at + 5], "big")
            if size > FRAME_MAX:
                self.damaged("a frame of %d bytes" % size)
            if len(self.inbox) - at < 5 + size:
                break
            self.heard = time.monotonic()
            self.accept(chr(self.inbox[at]), bytes(self.inbox[at + 5 : at + 5 + size]))
            at += 5 + size
        del self.inbox[:at]

    def accept(self, op, payload):
        """Frames are done one after the other; only K overtakes what runs."""
        if op == "K":
            if self.block and self.block.status is None:
                self.end_block()
        elif op == "W":
            self.may_warm = True
        elif op != "N":
            if self.block or self.collecting:
                self.waiting.append((op, payload))
                self.waiting_bytes += len(payload)
            else:
                self.do(op, payload)

    def do(self, op, payload):
        actions = {"P": self.do_put, "D": self.do_more, "U": self.do_remove, "X": self.do_run, "C": self.do_collect}
        try:
            if op not in actions:
                raise Refusal("no such frame")
            if self.ready:
                self.ready.preload_no_more()
            actions[op](payload)
        except Refusal as refusal:
            self.send(b"!", encode(dict(refusal.fields, op=op)))

    def do_put(self, payload):
        if self.put:
            unfinished, self.put = self.put, None
            unfinished.abandon()
            self.send(b"!", encode({"op": "P", "path": unfinished.path, "message": "never completed"}))
        end = 2 + int.from_bytes(payload[:2], "big")
        put = Put(self.workspace, decode(payload[2:end]))
        self.put = put if len(payload) - end < put.left else None
        try:
            put.begin()
        finally:
            if put.file is None:
                put.left -= len(payload) - end
        put.write(payload[end:])

    def do_more(self, payload):
        if not self.put:
            raise Refusal("no file is being put")
        put = self.put
        if len(payload) >= put.left:
            self.put = None
        put.write(payload)

    def do_remove(self, payload):
        for path in decode(payload).get("paths", []):
            try:
                self.workspace.remove(path)
            except (OSError, ValueError) as error:
                message = getattr(error, "strerror", None) or str(error)
                self.send(b"!", encode({"op": "U", "path": path, "message": message}))

    def do_collect(self, payload):
        request = decode(payload)
        none = float("inf")
        self.collecting = self.workspace.collect(request.get("maxFiles", none), request.get("maxBytes", none))

    def do_run(self, payload):
        request = decode(payload)
        argv, id = request.get("argv"), request.get("id")
        if not (isinstance(argv, list) and argv and all(isinstance(word, str) and "\0" not in word for word in argv)):
            raise Refusal("argv must be a list of words", id=id)
        if request.get("how") not in ("exec", "fork"):
            raise Refusal("how must be exec or fork", id=id)
        try:
            path = find_program(argv[0])
            if path is None:
                raise FileNotFoundError(2, "No such program in PATH")
            before = self.limits.read()
            if request["how"] == "fork" and self.ready and self.ready.is_warm and self.ready.can_run(argv, path):
                block = self.run_ready(argv)
            else:
                self.drop_spare()
                block = Block()
                block.spawn(path, argv, self.environment, self.oom_score)
        except (OSError, ValueError) as error:
            message = getattr(error, "strerror", None) or str(error)
            # Any other failure says nothing of the program.
            fields = {"program": argv[0]} if isinstance(error, NO_PROGRAM) or error.args[:1] == (ENOEXEC,) else {}
            raise Refusal(message, id=id, **fields)
        block.id, block.before, self.block = id, before, block
        self.wants_spare = self.ready is not None

    def run_ready(self, argv):
        block, self.spare = self.spare or self.ready.fork(), None
        self.ready.give(block, argv)
        return block

    def drop_spare(self):
        if self.spare:
            spare, self.spare = self.spare, None
            os.kill(spare.pid, signal.SIGKILL)
            spare.drop()

    def relay(self, ready):
        for name, kind in (("out", b"o"), ("err", b"e")):
            file = getattr(self.block, name)
            if file is None or file not in ready:
                continue
            data = os.read(file, CHUNK)
            if data:
                self.send(kind, data)
            else:
                os.close(file)
                setattr(self.block, name, None)

    def reap(self):
        try:
            os.read(self.wake, 4096)
        except BlockingIOError:
            pass
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                if self.spare and pid == self.spare.pid:
                    self.spare.drop()
                    self.spare = None
                if self.block and pid == self.block.pid:
                    self.block.status = status
                    self.end_block()
        except ChildProcessError:
            pass

    def end_block(self):
        """After this nothing can write to the block's streams any more, so they end."""
        statuses = sweep()
        if self.block.status is None:
            self.block.status = statuses.get(self.block.pid, signal.SIGKILL)

    def go_on(self):
        block = self.block
        if block and block.status is not None:
            while len(self.outbox) < OUTBOX_HIGH and (block.out is not None or block.err is not None):
                self.relay((block.out, block.err))
            if block.out is None and block.err is None:
                self.block, self.heard = None, time.monotonic()
                self.send(b"x", encode(self.result_of(block)))
        while self.collecting and len(self.outbox) < OUTBOX_HIGH:
            frame = next(self.collecting, None)
            if frame:
                self.send(*frame)
            else:
                self.collecting, self.heard = None, time.monotonic()
        while self.waiting and not self.block and not self.collecting:
            op, payload = self.waiting.pop(0)
            self.waiting_bytes -= len(payload)
            self.do(op, payload)
        # A collection that waited behind a block: nothing else would wake it.
        if self.collecting and len(self.outbox) < OUTBOX_HIGH:
            self.go_on()

    def prepare_spare(self):
        if self.ready and not self.ready.is_warm:
            if self.may_warm and not self.block and not self.collecting:
                self.warm_up_further()
        elif self.wants_spare and not self.block and not self.collecting:
            self.wants_spare = False
            try:
                self.spare = self.ready.fork()
            except OSError:
                pass

    def result_of(self, block):
        self.workspace.reopen()
        ended = os.WIFSIGNALED(block.status)
        return {
            "id": block.id,
            "code": None if ended else os.WEXITSTATUS(block.status),
            "signal": os.WTERMSIG(block.status) if ended else None,
            "limits": self.limits.hit_since(block.before),
        }


def sweep():
    """Kills and reaps every other process of the container; a kill of all is atomic, so no fork escapes it."""
    statuses = {}
    try:
        while True:
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                pass
            pid, status = os.waitpid(-1, 0)
            statuses[pid] = status
    except ChildProcessError:
        return statuses


def close_inherited():
    """What starts a sandbox without an engine may have left files of the host open to it."""
    try:
        files = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        return
    for file in files:
        try:
            if file > 2:
                os.close(file)
        except OSError:
            pass


def main(agent=Agent):
    if os.getpid() != 1:
        os.write(2, b"glovebox resident: not process 1 of a container\n")
        os._exit(2)
    try:
        config = decode(sys.argv[1].encode())
        os.chdir(config["workspace"])
    except (IndexError, KeyError, TypeError, ValueError, OSError, Refusal) as error:
        os.write(2, ("glovebox resident: bad config: %s\n" % error).encode())
        os._exit(2)
    os.umask(0o022)
    close_inherited()
    agent(config).serve()


main()
