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
        self.touches, self.files = touches, 64
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
            os.closerange(4, self.files)
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
