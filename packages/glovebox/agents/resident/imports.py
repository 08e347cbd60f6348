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
