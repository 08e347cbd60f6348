@attack
def interfaces():
    names = [line.split(":")[0].strip() for line in read("/proc/net/dev").splitlines()[2:] if ":" in line]
    others = [name for name in names if name != "lo"]
    return allowed("interfaces: %s" % ", ".join(others)) if others else blocked("none but lo")


def route(address):
    """Whether there is a way to an address, by a socket that sends nothing."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        one.connect((address, 9))
        return one.getsockname()[0]


@attack
def routes(addresses):
    return first_allowed((address, attempt(lambda: route(address), "there is a way")) for address in addresses)


@attack
def raw_sockets():
    kinds = {
        "ICMP": (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
        "any protocol": (socket.AF_INET, socket.SOCK_RAW, 255),
        "IPv6": (socket.AF_INET6, socket.SOCK_RAW, 58),
    }
    return first_allowed((name, attempt(lambda: socket.socket(*kind).close(), "it was opened")) for name, kind in kinds.items())


@attack
def packet_socket():
    return attempt(lambda: socket.socket(17, socket.SOCK_RAW, 0).close(), "frames can be sent and seen")


@attack
def make_interface():
    """A new interface, which is what a way out begins with."""
    RTM_NEWLINK, RTM_DELLINK, REQUEST_ACK_CREATE = 16, 17, 0x1 | 0x4 | 0x400 | 0x200
    name = b"gbprobe0\0"

    def attribute(kind, data):
        return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)

    def ask(kind, flags, body):
        with socket.socket(16, socket.SOCK_RAW, 0) as one:
            one.settimeout(2)
            one.send(struct.pack("IHHII", 16 + len(body), kind, flags, 1, 0) + body)
            code = struct.unpack_from("i", one.recv(4096), 16)[0]
            if code:
                raise OSError(-code, os.strerror(-code))

    link = struct.pack("BxHiII", 0, 0, 0, 0, 0)
    kind = attribute(18, attribute(1, b"dummy"))
    pair = attribute(18, attribute(1, b"ifb"))

    def make(info):
        ask(RTM_NEWLINK, REQUEST_ACK_CREATE, link + attribute(3, name) + info)
        ask(RTM_DELLINK, 0x1 | 0x4, link + attribute(3, name))

    def up():
        ask(RTM_NEWLINK, 0x1 | 0x4, struct.pack("BxHiII", 0, 0, 1, 0x1, 0x1))

    return first_allowed((name, attempt(way, "the kernel did it")) for name, way in {"a new one": lambda: make(kind), "the loopback": up}.items())


@attack
def reach(targets, token):
    """Sends a word to listeners of the host, by TCP and UDP; who hears it is asked there."""
    findings = []
    for kind, address, port in targets:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        sort = socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM

        def send():
            with socket.socket(family, sort) as one:
                one.settimeout(1)
                one.connect((address, port))
                one.sendall(token.encode())
                if kind == "tcp":
                    one.recv(1)
                else:
                    # Where nobody listens, the second is told so.
                    time.sleep(0.05)
                    one.send(token.encode())

        try:
            found = attempt(send, "it was sent")
        except (socket.timeout, TimeoutError):
            found = blocked("no answer")
        # A datagram that goes out has arrived nowhere yet: the listener knows.
        if found[0] == INCONCLUSIVE and "ETIMEDOUT" in found[1] or "timed out" in found[1]:
            found = blocked("no answer")
        findings.append(("%s %s" % (kind, address), found))
    return first_allowed(findings)


@attack
def names(name, servers):
    """A name asked of the resolver, and straight of every server that could be one."""
    findings = []

    def lookup():
        try:
            return socket.getaddrinfo(name, 80)[0][4][0]
        except socket.gaierror as error:
            raise OSError(errno.ENETUNREACH, str(error))

    findings.append(("the resolver", attempt(lookup, "it was answered")))
    question = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
    question += b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0\0\1\0\1"
    listed = [line.split()[1] for line in read_or("/etc/resolv.conf").splitlines() if line.startswith("nameserver") and len(line.split()) > 1]
    places = [(server, 53) for server in listed] + [tuple(server) for server in servers]
    for server, port in dict.fromkeys(places):

        def ask(server=server, port=port):
            with socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, socket.SOCK_DGRAM) as one:
                one.settimeout(1)
                one.connect((server, port))
                one.send(question)
                one.recv(512)

        try:
            found = attempt(ask, "it was answered")
        except (socket.timeout, TimeoutError):
            found = blocked("no answer")
        if "timed out" in found[1]:
            found = blocked("no answer")
        findings.append(("%s port %d" % (server, port), found))
    return first_allowed(findings)


@attack
def listening(expected, plant=False):
    """A port at which something inside the sandbox could be told what to do."""
    own = socket.create_server(("127.0.0.1", 0)) if plant else None
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in read_or(table).splitlines()[1:]:
            words = line.split()
            if len(words) > 3 and words[3] == "0A":
                found.add(int(words[1].rsplit(":", 1)[1], 16))
    if own:
        own.close()
    foreign = sorted(found - set(expected))
    return allowed("something listens at port %s" % foreign) if foreign else blocked("nothing listens%s" % (" but at %s" % expected if expected else ""))


@attack
def serve(port, seconds):
    """Waits for a neighbour, at all addresses there are."""
    with socket.create_server(("0.0.0.0", port)) as server:
        server.settimeout(seconds)
        try:
            other, _ = server.accept()
        except (socket.timeout, TimeoutError):
            return blocked("nobody came")
        other.sendall(b"!")
        other.close()
        return allowed("somebody came")


def proxy_answer(port, request, wait=5):
    """What the way out says to a request."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as one:
        one.sendall(request)
        answer = b""
        while b"\r\n" not in answer and len(answer) < 4096:
            chunk = one.recv(4096)
            if not chunk:
                break
            answer += chunk
        return answer.split(b"\r\n")[0].decode("latin-1")


@attack
def through_proxy(port, authorities):
    """Asks the way out for these, by CONNECT."""

    def ask(authority):
        host = authority.encode("latin-1")
        return proxy_answer(port, b"CONNECT " + host + b" HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")

    findings = []
    for authority in authorities:
        try:
            line = ask(authority)
            found = allowed(line) if line.startswith("HTTP/1.1 2") else blocked(line[:100] or "closed")
        except OSError as error:
            found = cannot("the way out does not answer: %s" % error)
        findings.append((repr(authority)[1:-1], found))
    return first_allowed(findings)


@attack
def through_socks(port, hosts, target):
    """The same by SOCKS5, with names that a careless reader would take for others."""
    findings = []
    for host in hosts:
        name = host.encode("latin-1")
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as one:
                one.sendall(b"\5\1\0")
                one.recv(2)
                one.sendall(b"\5\1\0\3" + bytes([len(name)]) + name + target.to_bytes(2, "big"))
                answer = one.recv(16)
            found = allowed("connected") if answer[1:2] == b"\0" else blocked("SOCKS reply %d" % answer[1] if len(answer) > 1 else "closed")
        except OSError as error:
            found = cannot("the way out does not answer: %s" % error)
        findings.append((repr(host)[1:-1], found))
    return first_allowed(findings)
