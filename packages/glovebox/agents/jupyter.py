# Appended to resident/: keeps an IPython kernel beside the programs that are run. The protocol is in README.md.
import hashlib, hmac, json, re, shutil, socket, stat, tempfile

try:
    import zmq
except ImportError as missing:
    zmq, NO_ZMQ = None, str(missing)

DELIMITER = b"<IDS|MSG>"
RICH = ("display_data", "execute_result", "update_display_data", "clear_output")
SMALL, PATIENCE_FOR_IDLE = 65536, 0.5
# The first comes with a new container, on a machine that may be busy with others; a call waits for a later one.
BOOT_SECONDS, REBOOT_SECONDS = 50, 15
NOT_BEGUN = b"[glovebox: the kernel ended before this cell began: an earlier one had damaged it. Run the cell again.]\n"
NUMBERED = re.compile(r"output-(\d{1,9})(?!\d)", re.ASCII)
CHANNELS = ("shell", "iopub", "stdin", "control", "hb")


class Kernel:
    """The process of a kernel and the two sockets on which it is spoken to."""

    def __init__(self, settings, environment, oom_score, number):
        self.number, self.is_ready, self.said, self.asked = number, False, b"", None
        self.started, self.key = time.monotonic(), os.urandom(16).hex()
        self.shell = self.iopub = None
        # Processes that were ended while the kernel stood still, and of which it may be the parent.
        self.killed = set()
        self.folder = tempfile.mkdtemp(prefix="glovebox-kernel-", dir="/tmp")
        ports = {channel + "_port": index for index, channel in enumerate(CHANNELS, 1)}
        connection = dict(ports, transport="ipc", ip=self.folder + "/channel", key=self.key, signature_scheme="hmac-sha256")
        with open(self.folder + "/connection.json", "w") as file:
            json.dump(connection, file)
        # Two ways: that something shown was taken, and that a cell begins.
        ours, theirs = socket.socketpair()
        block, self.line = Block(), ours.detach()
        os.set_blocking(self.line, False)
        theirs.set_inheritable(True)
        try:
            # Without the user's own site, which an earlier kernel may have filled.
            argv = ["python3", "-s", "-c", settings["source"], self.folder, str(theirs.fileno()), str(settings["rich"])]
            block.spawn(find_program("python3"), argv, environment, oom_score)
        finally:
            theirs.close()
        self.pid, self.out, self.err = block.pid, block.out, block.err
        for file in (self.out, self.err):
            os.set_blocking(file, False)

    def connect(self, context):
        self.shell, self.iopub = context.socket(zmq.DEALER), context.socket(zmq.SUB)
        self.iopub.subscribe(b"")
        for socket, port in ((self.shell, 1), (self.iopub, 2)):
            socket.linger = 0
            socket.connect("ipc://%s/channel-%d" % (self.folder, port))

    def ask(self, kind, content, metadata=None):
        """Sends a request; what belongs to it is known by its number, which is new and random."""
        id = os.urandom(16).hex()
        header = {"msg_id": id, "msg_type": kind, "username": "", "session": "glovebox", "date": "", "version": "5.3"}
        parts = [encode(part) for part in (header, {}, metadata or {}, content)]
        signature = hmac.new(self.key.encode(), b"".join(parts), hashlib.sha256).hexdigest().encode()
        self.shell.send_multipart([DELIMITER, signature, *parts])
        return id

    def hear(self, socket):
        """The next message as kind, number of its request, metadata and content, the last two unread; None when there is none."""
        while True:
            try:
                parts = socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return None
            try:
                # Not checked against the key: whoever could forge it runs in the kernel and has the key.
                header, parent, metadata, content = parts[parts.index(DELIMITER) + 2 :][:4]
                if len(header) < SMALL and len(parent) < SMALL:
                    return json.loads(header)["msg_type"], json.loads(parent).get("msg_id"), metadata, content
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                pass

    def go_on(self):
        """Lets the code go on that has shown something."""
        try:
            os.write(self.line, b".")
        except OSError:
            pass

    def has_begun(self):
        """Whether a cell has begun since this was asked last; only while the kernel stands still or is gone."""
        try:
            return len(os.read(self.line, SMALL)) > 0
        except OSError:
            return False

    def sockets(self):
        return [socket.FD for socket in (self.shell, self.iopub) if socket]

    def close(self):
        """Forgets a kernel whose process is gone."""
        for socket in (self.shell, self.iopub):
            if socket:
                socket.close()
        for file in (self.out, self.err, self.line):
            if file is not None:
                os.close(file)
        shutil.rmtree(self.folder, ignore_errors=True)


class Cell(Block):
    """A block that runs in the kernel: its streams are the kernel's."""

    def __init__(self, kernel, id):
        self.id, self.kernel, self.out, self.err = id, kernel, kernel.out, kernel.err
        self.pid = self.status = self.job = self.code = self.replied = self.kill_at = None
        self.is_idle = False


class Wait(Block):
    """A block that is over when the kernel is ready, or cannot be; or then runs what had to wait for it."""

    def __init__(self, id, before, then=None):
        self.id, self.before, self.then = id, before, then
        self.pid = self.status = self.job = self.out = self.err = None


class JupyterAgent(Agent):
    def __init__(self, config):
        self.settings, self.kernel, self.kernels, self.trouble = config["kernel"], None, 0, None
        super().__init__(config)

    def greet(self, facts):
        """Speaks only when the kernel is ready, or cannot be."""
        if zmq is None:
            self.trouble = NO_ZMQ
        else:
            self.context = zmq.Context()
            self.start_kernel()
            while self.kernel and not self.kernel.is_ready:
                self.poll()
                self.reap()
                self.raise_kernel()
        super().greet(dict(facts, kernel={"number": self.kernels, "trouble": self.trouble}))

    # The kernel's life.

    def start_kernel(self):
        self.kernels, self.trouble = self.kernels + 1, None
        try:
            self.kernel = Kernel(self.settings, self.environment, self.oom_score, self.kernels)
        except OSError as error:
            self.trouble = error.strerror or str(error)

    def raise_kernel(self):
        """One step on the way from a new process to a kernel that answers and whose messages come through."""
        kernel = self.kernel
        if not kernel or kernel.is_ready:
            return
        said, failed = read_all(kernel.out), read_all(kernel.err)
        kernel.said = (kernel.said + failed)[-4096:]
        now = time.monotonic()
        limit = BOOT_SECONDS if kernel.number == 1 else REBOOT_SECONDS
        if now - kernel.started > limit:
            self.trouble = "the kernel was not ready after %d s" % limit
            return self.after_loss(sweep())
        if kernel.shell is None:
            if b"ready\n" not in said:
                return
            kernel.connect(self.context)
            kernel.heard = set()
        if kernel.asked is None or now - kernel.asked > 0.05:
            kernel.asked = now
            # Twice the same would do; the first may come before the subscription.
            kernel.ask("execute_request", {"code": "pass", "silent": True, "store_history": False, "allow_stdin": False})
        for name in ("shell", "iopub"):
            while kernel.hear(getattr(kernel, name)):
                kernel.heard.add(name)
        if len(kernel.heard) == 2:
            kernel.is_ready = True
            self.drain_probes(kernel)
            self.end_others()

    @staticmethod
    def drain_probes(kernel):
        """Answers to questions that were asked twice come until one that is asked last is answered."""
        last, until = kernel.ask("kernel_info_request", {}), time.monotonic() + 2
        while time.monotonic() < until:
            message = kernel.hear(kernel.shell)
            if message and message[1] == last:
                break
            if not message:
                kernel.shell.poll(10)
        while kernel.hear(kernel.iopub):
            pass

    def forget(self, kernel):
        if self.block and isinstance(self.block, Cell) and self.block.kernel is kernel:
            # What it wrote last is still in its pipes, which the block reads to their end and closes.
            kernel.out = kernel.err = None
        kernel.close()

    def end_others(self):
        """Ends every process but the kernel. All stand still first, so that no fork escapes; the kernel stays so."""
        keep, statuses, until = self.kernel.pid, {}, time.monotonic() + 1
        try:
            os.kill(-1, signal.SIGSTOP)
        except ProcessLookupError:
            pass
        while True:
            try:
                while True:
                    pid, status = os.waitpid(-1, os.WNOHANG)
                    if not pid:
                        break
                    statuses[pid] = status
            except ChildProcessError:
                pass
            states = process_states()
            stands = states.pop(keep, "X") in "Tt"
            others = [pid for pid, state in states.items() if state not in "ZX"]
            if keep in statuses or time.monotonic() > until:
                statuses.update(sweep())
                return statuses
            # One that was killed does not stand: it is on its way out.
            if not others and stands:
                return statuses
            self.kernel.killed.update(others)
            for pid in others:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.0005)

    # Frames.

    def do_run(self, payload):
        request = decode(payload)
        id, argv = request.get("id"), request.get("argv")
        if request.get("how") not in ("kernel", "cell"):
            return super().do_run(payload)
        if request["how"] == "kernel" or not (self.kernel and self.kernel.is_ready):
            if not self.kernel:
                self.start_kernel()
            self.block = Wait(id, self.limits.read(), payload if request["how"] == "cell" else None)
            return None
        if not (isinstance(argv, list) and len(argv) == 2 and isinstance(argv[1], str)):
            raise Refusal("argv must be a program and a file", id=id)
        try:
            code = read_file(self.workspace, argv[1]).decode("utf-8", "replace")
        except (OSError, ValueError) as error:
            raise Refusal("%s: %s" % (argv[1], getattr(error, "strerror", None) or error), id=id)
        kernel = self.kernel
        block = Cell(kernel, id)
        block.before = self.limits.read()
        kernel.has_begun()
        os.kill(kernel.pid, signal.SIGCONT)
        file = os.path.join(self.settings["workspace"], argv[1])
        content = {"code": code.replace("\r\n", "\n"), "silent": False, "store_history": True, "user_expressions": {}}
        metadata = {"file": file, "killed": sorted(kernel.killed)}
        kernel.killed.clear()
        block.request = kernel.ask("execute_request", dict(content, allow_stdin=False, stop_on_error=False), metadata)
        self.block = block

    # A cell that runs.

    def end_connections(self):
        """Some may be the kernel's, which lives on."""

    def watch(self, poller):
        super().watch(poller)
        kernel = self.kernel
        if kernel and (not kernel.is_ready or isinstance(self.block, Cell)) and len(self.outbox) < OUTBOX_HIGH:
            for file in kernel.sockets() + ([] if kernel.is_ready else [f for f in (kernel.out, kernel.err) if f is not None]):
                poller.register(file, select.POLLIN)

    def patience(self):
        if self.kernel and not self.kernel.is_ready:
            return 20
        block = self.block
        if isinstance(block, Cell) and block.status is None:
            times = [t for t in (block.kill_at, block.replied and block.replied + PATIENCE_FOR_IDLE) if t]
            return max(0, int((min(times) - time.monotonic()) * 1000) + 1) if times else None
        return super().patience()

    def relay(self, ready):
        if not isinstance(self.block, Cell):
            return super().relay(ready)
        self.relay_cell()
        if self.block.status is None:
            self.hear_kernel(self.block)

    def relay_cell(self, limit=OUTBOX_HIGH):
        """Whatever the cell wrote so far; an end of a stream is an end of the kernel, or the code closed it."""
        for name, kind in (("out", b"o"), ("err", b"e")):
            file = getattr(self.block, name)
            while file is not None and len(self.outbox) < limit:
                try:
                    data = os.read(file, CHUNK)
                except BlockingIOError:
                    break
                if not data:
                    self.close_stream(name, file)
                    break
                self.send(kind, data)

    def close_stream(self, name, file):
        os.close(file)
        setattr(self.block, name, None)
        if self.kernel and getattr(self.kernel, name) == file:
            setattr(self.kernel, name, None)

    def hear_kernel(self, block):
        kernel = block.kernel
        while len(self.outbox) < OUTBOX_HIGH:
            message = kernel.hear(kernel.iopub)
            if not message:
                break
            kind, request, _, content = message
            if kind in RICH:
                # What was printed before it comes before it, and what is printed after it waits for it.
                self.relay_cell(limit=2 * OUTBOX_HIGH)
                if request == block.request:
                    self.send_rich(kind, content)
                kernel.go_on()
            elif kind == "status" and request == block.request and len(content) < SMALL and b'"idle"' in content:
                block.is_idle = True
        while True:
            message = kernel.hear(kernel.shell)
            if not message:
                break
            if message[0] == "execute_reply" and message[1] == block.request and block.replied is None:
                block.code, block.replied = exit_code(message[2]), time.monotonic()
        if block.replied and (block.is_idle or time.monotonic() - block.replied > PATIENCE_FOR_IDLE):
            self.end_cell(block.code << 8)

    def send_rich(self, kind, content):
        fits = len(content) <= self.settings["rich"]
        self.send(b"m", encode({"kind": kind, "size": len(content), "dropped": not fits}))
        for at in range(0, len(content) if fits else 0, CHUNK):
            self.send(b"d", content[at : at + CHUNK])

    def end_cell(self, status):
        """The kernel stands still until the next cell, and nothing else is left."""
        statuses = self.end_others()
        if self.kernel.pid in statuses:
            self.after_loss(statuses)
        else:
            self.block.status = status

    def after_loss(self, statuses):
        kernel, self.kernel = self.kernel, None
        has_begun = kernel.has_begun()
        self.forget(kernel)
        block = self.block
        if isinstance(block, Cell) and block.status is None:
            block.status = statuses.get(kernel.pid, signal.SIGKILL)
            if not has_begun and block.status == 0:
                # That no code of it has run is no success.
                block.status = 1 << 8
                self.send(b"e", NOT_BEGUN)

    # What the agent does for programs, done for both.

    def end_block(self):
        block = self.block
        if isinstance(block, Wait):
            block.status = signal.SIGKILL
        elif not isinstance(block, Cell):
            if not self.kernel:
                return super().end_block()
            statuses = self.end_others()
            if block.status is None:
                block.status = statuses.get(block.pid, signal.SIGKILL)
            if self.kernel.pid in statuses:
                self.after_loss(statuses)
            elif not self.kernel.is_ready:
                # It is still on its way, and only then stands still.
                os.kill(self.kernel.pid, signal.SIGCONT)
        elif block.kill_at is None:
            block.kill_at = time.monotonic() + self.settings["grace"]
            self.interrupt(block.kernel)
        else:
            self.after_loss(sweep())

    @staticmethod
    def interrupt(kernel):
        for number in (signal.SIGINT, signal.SIGCONT):
            try:
                os.killpg(kernel.pid, number)
            except OSError:
                pass

    def ended(self, pid, status):
        if self.kernel and pid == self.kernel.pid:
            self.kernel_died(status)
        else:
            super().ended(pid, status)

    def kernel_died(self, status):
        kernel = self.kernel
        if not kernel.is_ready:
            said = (kernel.said + read_all(kernel.err)).decode("utf-8", "replace").strip()
            hit = self.limits.hit_since({})
            how = "signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else "status %d" % os.WEXITSTATUS(status)
            self.trouble = "the kernel ended with %s%s%s" % (how, " (out of memory)" if "memory" in hit else "", said and ": " + said)
        if self.block and self.block.pid:
            # A program of the host's runs on; what the kernel left ends with it.
            self.kernel = None
            self.forget(kernel)
            return
        self.after_loss({**sweep(), kernel.pid: status})

    def go_on(self):
        self.raise_kernel()
        block = self.block
        if isinstance(block, Wait):
            self.look_after(block)
        elif isinstance(block, Cell):
            if block.status is None and block.kill_at and time.monotonic() >= block.kill_at:
                self.end_block()
            if block.status is not None:
                self.relay_cell()
                if len(self.outbox) < OUTBOX_HIGH:
                    # Nothing writes to them any more: they are empty.
                    self.let_go(block)
        super().go_on()
        if block and not self.block and not self.kernel and not isinstance(block, Wait):
            self.start_kernel()

    def look_after(self, wait):
        if not self.kernel and wait.status is None:
            self.send(b"e", (self.trouble or "the kernel ended").encode()[:CHUNK])
            wait.status = 1 << 8
        elif self.kernel and self.kernel.is_ready and wait.then:
            self.block = None
            self.do("X", wait.then)
        elif self.kernel and self.kernel.is_ready:
            wait.status = 0

    def let_go(self, block):
        for name in ("out", "err"):
            file = getattr(block, name)
            if file is not None and not (self.kernel and getattr(self.kernel, name) == file):
                os.close(file)
            setattr(block, name, None)

    def result_of(self, block):
        kernel = {"number": self.kernels, "alive": bool(self.kernel), "lastOutput": self.last_output()}
        return dict(super().result_of(block), kernel=kernel)

    def last_output(self):
        """The greatest number that something has in the workspace: files, folders and links, carried or not."""
        try:
            names = os.listdir(self.settings["workspace"])
        except OSError:
            return 0
        return max((int(found.group(1)) for found in map(NUMBERED.match, names) if found), default=0)


def exit_code(metadata):
    try:
        code = json.loads(metadata).get("exit") if len(metadata) < SMALL else 1
        return code if isinstance(code, int) and 0 <= code <= 255 else 1
    except (ValueError, AttributeError, RecursionError):
        return 1


def read_file(workspace, path):
    """A file of the workspace, which is no link and no pipe."""
    folder, name = workspace.open_folder_of(path)
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)
    with open(file, "rb") as content:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise ValueError("not a file")
        return content.read()


def read_all(file):
    data = b""
    try:
        while file is not None and len(data) < 1 << 20:
            chunk = os.read(file, CHUNK)
            if not chunk:
                break
            data += chunk
    except BlockingIOError:
        pass
    return data


def process_states():
    """The state of every process but this one, as the kernel names it."""
    states = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and name != "1":
            fields = read_text("/proc/%s/stat" % name).rpartition(")")[2].split()
            if fields:
                states[int(name)] = fields[0]
    return states


main(JupyterAgent)
