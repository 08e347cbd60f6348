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
