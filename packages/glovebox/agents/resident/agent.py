class Agent:
    def __init__(self, config):
        self.lease = config.get("lease") or None
        self.inbox, self.outbox, self.waiting, self.waiting_bytes = bytearray(), bytearray(), [], 0
        self.put = self.block = self.spare = self.collecting = None
        self.heard, self.may_warm = time.monotonic(), False
        self.take_streams()
        self.workspace, self.limits, self.oom_score = Workspace(), LimitCounters(), HighOomScore()
        self.environment = native_environment()
        self.tunnel = Tunnel(self, config["tunnel"]) if "tunnel" in config else None
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
            if self.tunnel:
                self.tunnel.serve(ready)
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
        if self.tunnel:
            self.tunnel.watch(poller)
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
        elif op == "T" and self.tunnel:
            self.tunnel.hear(payload)
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
                self.ended(pid, status)
        except ChildProcessError:
            pass

    def ended(self, pid, status):
        if self.spare and pid == self.spare.pid:
            self.spare.drop()
            self.spare = None
        if self.block and pid == self.block.pid:
            self.block.status = status
            self.end_block()

    def end_block(self):
        """After this nothing can write to the block's streams any more, so they end."""
        statuses = sweep()
        self.end_connections()
        if self.block.status is None:
            self.block.status = statuses.get(self.block.pid, signal.SIGKILL)

    def end_connections(self):
        if self.tunnel:
            self.tunnel.end_all()

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
