# Runs in the embedded interpreter: waits for the name of a file, runs it as a program, tells how it ended.
import sys

del sys.path[0]
sys.dont_write_bytecode = True
import _sitebuiltins, atexit, builtins, gc, os, types  # noqa: E402

# Programs may put others in their places.
from builtins import BaseException, compile, exec, getattr, isinstance, list, open, print, setattr, str, type, vars  # noqa: E402

WORKSPACE = "/workspace"
UNWATCH = (sys.settrace, sys.setprofile) * 2
WARM_UP = """
import sys
class Warm:
    def __init__(self, value): self.value = value
def warm(*values, **named):
    try: return [f"{Warm(value).value:>4}" for value in values if value] or named["missing"]
    except KeyError as error: return {str(error): values, **named}
    finally: pass
warm(*range(9), key=1.5); warm(); sorted("warm up".split(), key=len)
with open("/dev/null") as file: file.read()
print(end="", flush=True)
"""


class Permissions:
    """WASI has no permissions: the host sends them in the upper half of the number of links, and is told changes."""

    TIMES = ("st_atime", "st_mtime", "st_ctime", "st_atime_ns", "st_mtime_ns", "st_ctime_ns")

    def __init__(self, tell):
        self.tell = tell
        self.access, self.stat = os.access, os.stat
        for name in ("stat", "lstat", "fstat"):
            setattr(os, name, self.with_mode(getattr(os, name)))
        os.access, os.chmod = self.checked_access, self.chmod
        os.supports_follow_symlinks.update((os.stat, os.access, os.chmod))
        os.supports_fd.add(os.stat)

    def with_mode(self, function):
        def call(*args, **kwargs):
            return self.mode_of(function(*args, **kwargs))

        call.__name__ = call.__qualname__ = function.__name__
        call.__doc__ = function.__doc__
        return call

    def mode_of(self, result):
        values = list(result)
        values[0] |= (values[3] >> 16) & 0o777
        values[3] &= 0xFFFF
        return os.stat_result(values, {name: getattr(result, name) for name in self.TIMES})

    def checked_access(self, path, mode, *, dir_fd=None, effective_ids=False, follow_symlinks=True):
        if not self.access(path, mode):
            return False
        return not mode & os.X_OK or bool(self.mode_of(self.stat(path)).st_mode & 0o111)

    def chmod(self, path, mode, *, dir_fd=None, follow_symlinks=True):
        self.stat(path)
        if not isinstance(path, int):
            self.tell("chmod %o %s" % (mode & 0o777, os.fsdecode(os.path.abspath(path))))


class AsyncioWithoutSockets:
    """Lets asyncio run: its loop wakes itself by a pair of sockets, which only other threads would need."""

    def find_spec(self, name, path=None, target=None):
        if name != "asyncio.selector_events":
            return None
        import importlib.util

        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        self.loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        self.loader.exec_module(module)
        for name in ("_make_self_pipe", "_close_self_pipe", "_write_to_self"):
            setattr(module.BaseSelectorEventLoop, name, lambda self: None)


def hint_for(error):
    """What the embedded sandbox lacks, if it was that."""
    what = None
    if isinstance(error, ModuleNotFoundError) and error.name:
        top = error.name.partition(".")[0]
        if error.name.startswith("concurrent.futures."):
            what = "no threads"
        elif top in sys.modules:
            pass
        elif top.lstrip("_") in sys.stdlib_module_names or top in sys.stdlib_module_names:
            what = "no module " + top
        else:
            what = "the standard library only, and no packages such as " + top
    elif isinstance(error, RuntimeError) and "start new thread" in str(error):
        what = "no threads"
    elif isinstance(error, AttributeError) and error.name and isinstance(error.obj, types.ModuleType):
        module = error.obj.__name__
        if module in ("socket", "_socket", "ssl"):
            what = "no network"
        elif module in ("os", "posix", "signal"):
            what = "no %s.%s, as there are no processes and no users" % (module, error.name)
    elif isinstance(error, OSError) and error.errno == 58:
        what = "no processes" if "processes" in str(error) else "no network" if "socket" in sys.modules else None
    if what:
        return "glovebox: the embedded sandbox has %s; the docker, jupyter and bubblewrap executors have more." % what


def attempt(function, *values):
    """Does it, whatever the program has made of what it needs; None where it fails."""
    try:
        return function(*values)
    except BaseException:
        return None


class Driver:
    def __init__(self):
        self.control = os.open("/dev/glovebox", os.O_RDWR)
        self.main = None
        self.read, self.write, self.exit = os.read, os.write, os._exit

    def tell(self, text):
        self.write(self.control, os.fsencode(text))

    def run(self, file, keeps, source=None):
        try:
            main = self.begin(file, keeps)
            if source is None:
                with open(WORKSPACE + "/" + file, "rb") as opened:
                    source = opened.read()
            code = compile(source, file, "exec", dont_inherit=True)
            try:
                exec(code, main.__dict__)
            finally:
                # What a program has set to watch itself is not to watch this; one that fails is gone by that.
                for function in UNWATCH:
                    try:
                        function(None)
                    except BaseException:
                        pass
            return 0
        except SystemExit as end:
            return self.exit_code(end)
        except BaseException as error:
            return self.failed(error)

    def begin(self, file, keeps):
        if self.main is None or not keeps:
            self.main = types.ModuleType("__main__")
            self.main.__builtins__ = builtins
            os.chdir(WORKSPACE)
        self.main.__file__ = file
        sys.modules["__main__"] = self.main
        sys.argv = [file]
        if not isinstance(sys.path, list):
            sys.path = []
        if sys.path[:1] != [WORKSPACE]:
            sys.path.insert(0, WORKSPACE)
        # Files have come and gone since it looked last.
        attempt(lambda: sys.path_importer_cache.pop(WORKSPACE, None))
        for name, fd in (("stdout", 1), ("stderr", 2)):
            # One that an earlier program has closed, or taken away, is no way to be heard.
            stream = getattr(sys, name, None)
            if stream is None or attempt(getattr, stream, "closed") is True:
                opened = open(fd, "w", encoding="utf-8", errors="backslashreplace" if fd == 2 else "strict", closefd=False)
                setattr(sys, name, opened)
        return self.main

    def exit_code(self, end):
        value = attempt(getattr, end, "code")
        if value is None or isinstance(value, int):
            return (value or 0) & 0xFF
        self.say(attempt(str, value) or "The program ended with a value that cannot be shown.")
        return 1

    def failed(self, error):
        if isinstance(error, MemoryError):
            # As it is: there may be no room for more.
            self.write(self.control, b"memory")
        # The frame above the program's own is this one's.
        trace = attempt(lambda: error.__traceback__.tb_next)
        attempt(BaseException.with_traceback, error, trace)
        try:
            sys.excepthook(type(error), error, trace)
        except BaseException:
            attempt(sys.__excepthook__, type(error), error, trace)
        hint = attempt(hint_for, error)
        if hint:
            self.say(hint)
        return 130 if isinstance(error, KeyboardInterrupt) else 1

    def say(self, text):
        attempt(lambda: print(text, file=sys.stderr))

    def flush(self):
        for name in ("stdout", "stderr"):
            attempt(lambda: getattr(sys, name).flush())

    def end(self, code):
        """What the interpreter would do at its end, as far as a program can tell, and no more: the rest is slow."""
        try:
            atexit._run_exitfuncs()
        except BaseException as error:
            self.failed(error)
        for module in (self.main, *(attempt(lambda: list(sys.modules.values())) or ())):
            attempt(self.clear, module)
        attempt(gc.collect)
        self.flush()
        self.exit(code)

    def clear(self, module):
        if module is not self.main and not str(getattr(module, "__file__", "")).startswith(WORKSPACE):
            return
        names = vars(module)
        for name in list(names):
            if name != "__builtins__":
                names[name] = None

    def warm(self):
        self.run("warm.py", False, WARM_UP)
        self.main = None
        del sys.modules["__main__"]
        sys.path.remove(WORKSPACE)
        gc.collect()
        gc.freeze()

    def serve(self):
        Permissions(self.tell)
        sys.meta_path.insert(0, AsyncioWithoutSockets())
        if PRELOAD:
            self.warm()
        while True:
            how, _, file = self.read(self.control, 65536).decode().partition(" ")
            code = self.run(file, how == "keep")
            if how != "keep":
                self.end(code)
            self.flush()
            self.write(self.control, b"end %d" % code)


# What the module `site` would give, whose other work is for naught here.
for _name in ("exit", "quit"):
    setattr(builtins, _name, _sitebuiltins.Quitter(_name, "Ctrl-D (i.e. EOF)"))
builtins.help = _sitebuiltins._Helper()
if LIBRARY:
    sys.path.append(LIBRARY)
for _name in PRELOAD:
    __import__(_name)
Driver().serve()
