# Runs in the embedded interpreter: waits for the name of a file, runs it as a program, tells how it ended.
import sys

del sys.path[0]
sys.dont_write_bytecode = True
import builtins, os, types  # noqa: E402


def _serve():
    control = os.open("/dev/glovebox", os.O_RDWR)
    workspace = "/workspace"
    main = None

    def tell(text):
        os.write(control, os.fsencode(text))

    def mode_of(result):
        # WASI has no permissions: the host sends them in the upper half of the number of links.
        values = list(result)
        more = {name: getattr(result, name) for name in times}
        values[0] |= (values[3] >> 16) & 0o777
        values[3] &= 0xFFFF
        return os.stat_result(values, more)

    times = ("st_atime", "st_mtime", "st_ctime", "st_atime_ns", "st_mtime_ns", "st_ctime_ns")
    stat, lstat, fstat, access = os.stat, os.lstat, os.fstat, os.access

    def with_mode(function):
        def call(*args, **kwargs):
            return mode_of(function(*args, **kwargs))

        call.__name__ = call.__qualname__ = function.__name__
        call.__doc__ = function.__doc__
        return call

    def checked_access(path, mode, *, dir_fd=None, effective_ids=False, follow_symlinks=True):
        if not access(path, mode):
            return False
        if mode & os.X_OK and dir_fd is None:
            return bool(mode_of(stat(path)).st_mode & 0o111)
        return True

    def chmod(path, mode, *, dir_fd=None, follow_symlinks=True):
        stat(path)
        if isinstance(path, int):
            return
        tell("chmod %o %s" % (mode & 0o777, os.fsdecode(os.path.abspath(path))))

    for function in (stat, lstat, fstat):
        setattr(os, function.__name__, with_mode(function))
    os.access, os.chmod = checked_access, chmod
    for function in (os.stat, os.access, os.chmod):
        os.supports_follow_symlinks.add(function)
    os.supports_fd.add(os.stat)

    def exit_code(value):
        if value is None:
            return 0
        if isinstance(value, int):
            return value & 0xFF
        print(value, file=sys.stderr)
        return 1

    def failed(error, trace):
        if isinstance(error, MemoryError):
            tell("memory")
        # The frame above the program's own is this one's.
        error.__traceback__ = trace.tb_next
        sys.excepthook(type(error), error, error.__traceback__)
        hint = hint_for(error)
        if hint:
            print(hint, file=sys.stderr)
        return 130 if isinstance(error, KeyboardInterrupt) else 1

    def run(file, keeps):
        nonlocal main
        if main is None or not keeps:
            main = types.ModuleType("__main__")
            main.__builtins__ = builtins
            os.chdir(workspace)
        sys.modules["__main__"] = main
        main.__file__ = file
        sys.argv[:] = [file]
        if workspace not in sys.path[:1]:
            sys.path.insert(0, workspace)
        sys.path_importer_cache.pop(workspace, None)
        try:
            with open(workspace + "/" + file, "rb") as source:
                code = compile(source.read(), file, "exec", dont_inherit=True)
            exec(code, main.__dict__)
            return 0
        except SystemExit as end:
            return exit_code(end.code)
        except BaseException as error:
            return failed(error, error.__traceback__)

    while True:
        how, _, file = os.read(control, 65536).decode().partition(" ")
        code = run(file, how == "keep")
        if how != "keep":
            return code
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):
            pass
        tell("end %d" % code)


def hint_for(error):
    return None


for _name in PRELOAD.split():
    __import__(_name)
sys.exit(_serve())
