@attack
def be_root():
    identities = status_fields().get("Uid", "").split() + status_fields().get("Gid", "").split()
    evidence = "uid %d, gid %d" % (os.getuid(), os.getgid())
    return allowed(evidence) if "0" in identities else blocked(evidence)


@attack
def be_another(user):
    """The very user of the policy, and no other."""
    seen = "%d:%d" % (os.getuid(), os.getgid())
    return blocked(seen) if seen == user else allowed("%s instead of %s" % (seen, user))


@attack
def other_groups():
    groups = sorted(set(os.getgroups()) - {os.getgid()})
    return allowed("also in groups %s" % groups) if groups else blocked("none but its own")


@attack
def capabilities(granted):
    """Capabilities that are held, or could still be gained."""
    fields = status_fields()
    found = []
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        if name in fields and int(fields[name], 16) & ~granted:
            found.append("%s %s" % (name, fields[name].strip()))
    if "CapBnd" not in fields:
        return cannot("the kernel does not say")
    return allowed(", ".join(found)) if found else blocked("CapBnd %s" % fields["CapBnd"].strip())


@attack
def one_capability(bit):
    field = status_fields().get("CapBnd", "0").strip()
    return allowed("CapBnd %s" % field) if int(field, 16) >> bit & 1 else blocked("CapBnd %s" % field)


@attack
def new_privileges():
    """Whether a setuid program could make more of its user; by the kernel's own word."""
    PR_GET_NO_NEW_PRIVS = 39
    value = libc().prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
    if value < 0:
        return cannot("the kernel does not say")
    return blocked("no_new_privs is 1") if value == 1 else allowed("no_new_privs is %d" % value)


@attack
def no_filter():
    mode = status_fields().get("Seccomp", "").strip()
    first = status_fields("1").get("Seccomp", mode).strip()
    evidence = "seccomp mode %s, of process 1 %s" % (mode, first)
    if mode == "":
        return cannot("the kernel does not say")
    return blocked(evidence) if mode == "2" and first == "2" else allowed(evidence)


@attack
def user_namespace():
    CLONE_NEWUSER = 0x10000000
    return attempt(lambda: system_call(number_of(272, 97), CLONE_NEWUSER), "a user namespace of its own")


@attack
def cloned_namespace():
    """The same by clone3, whose flags no filter can read."""
    CLONE_NEWUSER, SIGCHLD = 0x10000000, 17
    arguments = ctypes.create_string_buffer(struct.pack("8Q", CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0))

    def clone():
        pid = system_call(435, arguments, 64)
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    return attempt(clone, "a process in a user namespace of its own")


@attack
def enter_namespace():
    def enter():
        file = os.open("/proc/self/ns/uts", os.O_RDONLY)
        system_call(number_of(308, 268), file, 0)

    return attempt(enter, "a namespace was entered")


@attack
def mount_something(folder):
    place = os.path.join(folder, ".glovebox-mount")
    os.makedirs(place, exist_ok=True)

    def mount():
        system_call(number_of(165, 40), b"none", place.encode(), b"tmpfs", 0, None)
        system_call(number_of(166, 39), place.encode(), 0)

    try:
        return attempt(mount, "a file system was mounted")
    finally:
        os.rmdir(place)


@attack
def new_mount_calls():
    """The newer calls, which older filters have never heard of."""
    ways = {
        "fsopen": lambda: os.close(system_call(430, b"tmpfs", 0)),
        "open_tree": lambda: os.close(system_call(428, -100, b"/", 1)),
        "mount_setattr": lambda: system_call(442, -100, b"/", 0, ctypes.create_string_buffer(32), 32),
    }
    return first_allowed((name, attempt(way, "the kernel did it")) for name, way in ways.items())


@attack
def unmount_something():
    def unmount():
        system_call(number_of(166, 39), b"/dev/shm", 2)

    return attempt(unmount, "a mount was taken away")


@attack
def traced():
    return attempt(lambda: system_call(number_of(101, 117), 0, 0, 0, 0), "PTRACE_TRACEME is taken")


@attack
def trace_agent():
    PTRACE_SEIZE = 0x4206
    # It does not stop what it takes, and ends with this process.
    return attempt(lambda: system_call(number_of(101, 117), PTRACE_SEIZE, 1, 0, 0), "process 1 was traced")


@attack
def foreign_memory():
    """The memory of a process of the same user, which the agent is."""
    pid = os.fork()
    if pid == 0:
        time.sleep(30)
        os._exit(0)
    place = ctypes.create_string_buffer(8)
    pair = ctypes.create_string_buffer(struct.pack("PN", ctypes.addressof(place), 8))

    def peek(target):
        system_call(number_of(310, 270), target, pair, 1, pair, 1, 0)

    try:
        return first_allowed(
            (name, attempt(lambda: peek(target), "its memory was read")) for name, target in (("process 1", 1), ("a child", pid))
        )
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@attack
def foreign_descriptors():
    """An open file of another process of the same user."""
    pid = os.fork()
    if pid == 0:
        time.sleep(30)
        os._exit(0)

    def take(target):
        handle = system_call(434, target, 0)
        os.close(system_call(438, handle, 1, 0))

    try:
        return first_allowed(
            (name, attempt(lambda: take(target), "its file was taken")) for name, target in (("process 1", 1), ("a child", pid))
        )
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@attack
def perf_events():
    PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, DISABLED_USER_ONLY = 1, 0, 0b1100001
    attributes = ctypes.create_string_buffer(
        struct.pack("IIQQQQQ", PERF_TYPE_SOFTWARE, 112, PERF_COUNT_SW_CPU_CLOCK, 0, 0, 0, DISABLED_USER_ONLY) + bytes(64)
    )
    call = number_of(298, 241)
    return attempt(lambda: os.close(system_call(call, attributes, 0, -1, -1, 0)), "a counter was opened")


@attack
def fault_handler():
    UFFD_USER_MODE_ONLY = 1
    call = number_of(323, 282)
    return attempt(lambda: os.close(system_call(call, UFFD_USER_MODE_ONLY)), "userfaultfd was opened")


@attack
def ring():
    parameters = ctypes.create_string_buffer(120)
    return attempt(lambda: os.close(system_call(425, 1, parameters)), "an io_uring was made")


@attack
def keyrings():
    KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING = 0, -3
    call = number_of(250, 219)
    return attempt(lambda: system_call(call, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0), "the session's keyring")


def reached(action, harmless):
    """A call that is made so that it can do nothing: what it fails with tells whether it was taken."""
    try:
        action()
    except OSError as error:
        if error.errno in harmless:
            return allowed("the kernel took the call: %s" % name_of(error))
        return blocked("refused: %s" % name_of(error))
    return allowed("the kernel took the call")


@attack
def load_code():
    """A module from a file that does not exist, a kernel of more parts than there can be, a map for BPF."""
    BPF_MAP_CREATE, BPF_MAP_TYPE_ARRAY = 0, 2
    attributes = ctypes.create_string_buffer(struct.pack("4I", BPF_MAP_TYPE_ARRAY, 4, 8, 1) + bytes(112))
    module, kernel, bpf = number_of(313, 273), number_of(246, 104), number_of(321, 280)
    return first_allowed(
        [
            ("finit_module", reached(lambda: system_call(module, -1, b"", 0), {errno.EBADF, errno.EINVAL, errno.ENOEXEC})),
            ("kexec_load", reached(lambda: system_call(kernel, 0, 1 << 20, None, 0), {errno.EINVAL, errno.EBUSY})),
            ("bpf", attempt(lambda: os.close(system_call(bpf, BPF_MAP_CREATE, attributes, 128)), "a BPF map was made")),
        ]
    )


@attack
def rule_machine():
    """The clock with a tick that is out of range, swap and accounting with files that do not exist."""
    ADJ_TICK = 0x4000
    change = ctypes.create_string_buffer(struct.pack("I", ADJ_TICK) + bytes(252))
    nothing = b"/nonexistent/glovebox"
    clock, swap_on, account = number_of(159, 171), number_of(167, 224), number_of(163, 89)
    return first_allowed(
        [
            ("adjtimex", reached(lambda: system_call(clock, change), {errno.EINVAL})),
            ("swapon", reached(lambda: system_call(swap_on, nothing, 0), {errno.ENOENT})),
            ("acct", reached(lambda: system_call(account, nothing), {errno.ENOENT})),
        ]
    )


@attack
def kernel_log():
    SYSLOG_ACTION_READ_ALL = 3
    text = ctypes.create_string_buffer(4096)
    return attempt(lambda: system_call(number_of(103, 116), SYSLOG_ACTION_READ_ALL, text, 4096), "the kernel's log was read")


@attack
def host_name():
    name = socket.gethostname().encode()
    return attempt(lambda: system_call(number_of(170, 161), name, len(name)), "the host name was set")


@attack
def odd_personality():
    ADDR_NO_RANDOMIZE = 0x0040000
    return attempt(lambda: system_call(number_of(135, 92), ADDR_NO_RANDOMIZE), "addresses are no longer random")


@attack
def type_into_terminal():
    """Characters put into a terminal as if its user had typed them."""
    import fcntl

    TIOCSTI, TIOCSCTTY = 0x5412, 0x540E
    try:
        leader, follower = os.openpty()
        fcntl.ioctl(follower, TIOCSCTTY, 0)
    except OSError as error:
        return cannot("no terminal: %s" % name_of(error))
    return attempt(lambda: fcntl.ioctl(follower, TIOCSTI, b"x"), "a character was typed")


@attack
def host_processes(reversed):
    """A process of the host, by a word of its command."""
    token = reversed[::-1]
    seen = 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        seen += 1
        if token in read_or("/proc/%s/cmdline" % name):
            return allowed("process %s of the host is seen" % name)
    return blocked("%d processes are seen, none of the host" % seen)


@attack
def cgroup_names():
    """Where in the host's tree of cgroups it is, which names its container."""
    paths = {line.split(":", 2)[2] for line in read_or("/proc/self/cgroup").splitlines() if line.count(":") >= 2}
    if not paths:
        return blocked("there is nothing to be read")
    foreign = sorted(path for path in paths if path != "/")
    return allowed("the host's path is seen: %s" % foreign[0]) if foreign else blocked("/ is all that is seen")


@attack
def host_kernel(release):
    """Under a kernel of its own the host's is not to be seen."""
    seen = platform.release()
    return allowed("it is the host's: %s" % seen) if seen == release else blocked("it is %s" % seen)
