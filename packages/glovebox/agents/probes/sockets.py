@attack
def socket_files(known):
    """Every socket in the file system that takes a connection."""
    found = []
    for folder, folders, names in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys", "/usr", "/lib")]
        for name in names:
            path = os.path.join(folder, name)
            try:
                if stat.S_ISSOCK(os.lstat(path).st_mode) and not any(path.startswith(one) for one in known):
                    found.append(path)
            except OSError:
                pass
    return allowed("sockets: " + ", ".join(found)) if found else blocked("none")


@attack
def service_sockets(paths):
    """The sockets of engines and agents, where they usually are."""

    def connect(path):
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(2)
            one.connect(path)

    return first_allowed((path, attempt(lambda: connect(path), "it takes connections", "not there")) for path in paths)


@attack
def abstract_socket(name):
    LONGEST = 107

    def connect(full):
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(2)
            one.connect("\0" + full)

    # Some who listen fill the name up.
    names = {"as it is": name, "filled up": name.ljust(LONGEST, "\0")}
    return first_allowed((how, attempt(lambda: connect(full), "the host's socket takes connections")) for how, full in names.items())


@attack
def odd_families():
    """Kinds of sockets that programs do not need and kernels have had flaws in."""
    kinds = {"ALG": (38, 5, 0), "VSOCK": (40, 1, 0), "KEY": (15, 3, 2), "CAN": (29, 3, 1), "TIPC": (30, 5, 0), "RDS": (21, 5, 0),
             "XDP": (44, 3, 0), "NETLINK generic": (16, 3, 16), "NETLINK audit": (16, 3, 9), "BLUETOOTH": (31, 3, 1)}

    def open_one(kind):
        socket.socket(*kind).close()

    return first_allowed((name, attempt(lambda: open_one(kind), "it was opened")) for name, kind in kinds.items())


def shared_segment(key, flags):
    IPC_CREAT = 0o1000
    shmget = libc().shmget
    result = shmget(key, 4096, (IPC_CREAT if flags else 0) | 0o666)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


@attack
def leave_shared(key, token):
    """Leaves a mark where processes of one machine share memory, and keeps it there."""
    shared_segment(key, True)
    try:
        with open("/dev/shm/" + token, "w") as file:
            file.write(token)
        os.chmod("/dev/shm/" + token, 0o644)
    except OSError:
        pass
    return allowed("left")


@attack
def find_shared(key, token):
    findings = [
        ("SysV", attempt(lambda: shared_segment(key, False), "the neighbour's segment is seen", "not there")),
        ("/dev/shm", attempt(lambda: len(read("/dev/shm/" + token)), "the neighbour's file is seen", "not there")),
    ]
    return first_allowed(findings)


@attack
def clear_shared(key, token):
    IPC_RMID = 0
    try:
        libc().shmctl(shared_segment(key, False), IPC_RMID, None)
    except OSError:
        pass
    try:
        os.remove("/dev/shm/" + token)
    except OSError:
        pass
    return blocked("cleared")
