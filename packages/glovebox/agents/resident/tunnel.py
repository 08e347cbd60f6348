class Connection:
    """A program's connection to the tunnel's port; what the host sends waits here until the program reads."""

    def __init__(self, number, file, window):
        self.number, self.file, self.credit = number, file, window
        self.pending, self.written = bytearray(), 0
        self.heard_end = self.said_end = self.is_shut = False


class Tunnel:
    """Carries connections to a port of the loopback over the stream to the host, which decides on each."""

    WINDOW, MOST = 256 << 10, 2048

    def __init__(self, agent, port):
        # Not the module socket, which takes longer to import than all of the agent.
        import _socket

        self.agent, self.socket, self.count = agent, _socket, 0
        self.numbers, self.files, self.dropped = {}, {}, []
        # The limit stays as it is, because programs inherit it.
        self.most = min(self.MOST, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 128)
        self.listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM, 0)
        self.listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", port))
        self.listener.listen(512)
        self.listener.setblocking(False)

    def watch(self, poller):
        # Not before: what was ready would be taken for ready under a number that was given away again.
        while self.dropped:
            os.close(self.dropped.pop())
        has_room = len(self.agent.outbox) < OUTBOX_HIGH
        if has_room:
            poller.register(self.listener.fileno(), select.POLLIN)
        for connection in self.files.values():
            events = select.POLLOUT if connection.pending else 0
            if has_room and connection.credit and not connection.said_end:
                events |= select.POLLIN
            if events:
                poller.register(connection.file, events)

    def serve(self, ready):
        if self.listener.fileno() in ready:
            self.take()
        for file in ready:
            connection = self.files.get(file)
            if connection and ready[file] & select.POLLOUT:
                self.write(connection)
            # What hung up may have sent before.
            if connection and ready[file] & ~select.POLLOUT and not connection.said_end:
                self.read(connection)

    def take(self):
        while True:
            try:
                file, _ = self.listener._accept()
            except OSError:
                return
            if len(self.files) >= self.most:
                os.close(file)
                continue
            os.set_blocking(file, False)
            self.count += 1
            connection = Connection(self.count, file, self.WINDOW)
            self.numbers[self.count] = self.files[file] = connection
            if self.agent.ready:
                # The agent's own files may come to lie above.
                self.agent.ready.files = max(self.agent.ready.files, file + 32)
            self.say(connection, b"o")

    def end_all(self):
        """What made them is gone."""
        for connection in list(self.numbers.values()):
            self.reset(connection)

    def say(self, connection, op, data=b""):
        self.agent.send(b"t", connection.number.to_bytes(4, "big") + op + data)

    def read(self, connection):
        try:
            data = os.read(connection.file, min(CHUNK - 5, connection.credit or 1))
        except BlockingIOError:
            return
        except OSError:
            return self.reset(connection)
        if data:
            connection.credit -= len(data)
            return self.say(connection, b"d", data)
        connection.said_end = True
        self.say(connection, b"e")
        self.finish(connection)

    def write(self, connection):
        try:
            while connection.pending:
                size = os.write(connection.file, connection.pending)
                del connection.pending[:size]
                connection.written += size
        except BlockingIOError:
            pass
        except OSError:
            return self.reset(connection)
        # Told in large steps: each is a frame.
        if connection.written >= self.WINDOW // 4 and not connection.heard_end:
            self.say(connection, b"w", connection.written.to_bytes(4, "big"))
            connection.written = 0
        self.finish(connection)

    def hear(self, payload):
        connection, op, data = self.numbers.get(int.from_bytes(payload[:4], "big")), payload[4:5], payload[5:]
        # One that was closed here while the frame was on its way.
        if not connection:
            return
        if op == b"d":
            connection.pending += data
            self.write(connection)
        elif op == b"w":
            connection.credit += int.from_bytes(data, "big")
        elif op == b"e":
            connection.heard_end = True
            self.finish(connection)
        elif op == b"r":
            # The answer tells the host that the number is free.
            self.reset(connection)

    def finish(self, connection):
        if connection.heard_end and not connection.pending and not connection.is_shut:
            connection.is_shut = True
            try:
                self.as_socket(connection, lambda one: one.shutdown(self.socket.SHUT_WR))
            except OSError:
                pass
        if connection.said_end and connection.is_shut:
            self.drop(connection)

    def reset(self, connection):
        self.say(connection, b"r")
        self.drop(connection, abruptly=True)

    def drop(self, connection, abruptly=False):
        if self.numbers.pop(connection.number, None) is None:
            return
        del self.files[connection.file]
        if abruptly:
            linger = (1).to_bytes(4, sys.byteorder) + bytes(4)
            self.as_socket(connection, lambda one: one.setsockopt(self.socket.SOL_SOCKET, self.socket.SO_LINGER, linger))
        self.dropped.append(connection.file)

    def as_socket(self, connection, action):
        one = self.socket.socket(fileno=connection.file)
        try:
            action(one)
        finally:
            one.detach()
