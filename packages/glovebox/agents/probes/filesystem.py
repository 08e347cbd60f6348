@attack
def write_root(places):
    def plant(place):
        path = os.path.join(place, ".glovebox-probe")
        with open(path, "x"):
            pass
        os.remove(path)

    return first_allowed(
        (place, attempt(lambda: plant(place), "a file was written there", "no such folder")) for place in places
    )


@attack
def remount_root():
    MS_REMOUNT, MS_BIND = 32, 4096
    call = number_of(165, 40)

    def remount(place):
        system_call(call, None, place, None, MS_REMOUNT | MS_BIND, None)

    return first_allowed((place.decode(), attempt(lambda: remount(place), "it is writable now")) for place in (b"/", b"/proc", b"/sys"))


@attack
def read_outside(paths, secret):
    """Files of the host, by every way that leads out of a wrong root."""

    def look(path):
        text = read(path)
        if secret in text:
            return None
        raise FileNotFoundError(errno.ENOENT, "not the host's")

    prefixes = ("", "/proc/1/root", "/proc/self/root/../..", "/proc/1/cwd/../../..", "/proc/self/cwd/../../../..")
    return first_allowed(
        (prefix + path, attempt(lambda: look(prefix + path), "the host's file was read", "not there"))
        for path in paths
        for prefix in prefixes
    )


@attack
def other_processes(only):
    """The root, folder and files of processes that are not the program's own."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) in (os.getpid(), OWN) or (only and name not in only):
            continue
        for leaf in ("root", "cwd", "fd/0", "fd/1", "mem"):
            path = "/proc/%s/%s" % (name, leaf)
            action = (lambda: os.close(os.open(path, os.O_RDWR))) if leaf == "mem" else (lambda: os.readlink(path))
            found.append((path, attempt(action, "it is open", "gone")))
    return first_allowed(found) if found else cannot("there is no other process")


@attack
def inherited_files(plant=False):
    """Open files beyond the three that every program has."""
    own = os.open("/", os.O_RDONLY) if plant else None
    kept = {0, 1, 2}
    extra = []
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink("/proc/self/fd/" + name)
        except OSError:
            continue
        # The pipe to the parent is the probe's own.
        if int(name) in kept or target.startswith(("pipe:", "/proc/self", "/proc/%d/fd" % os.getpid())):
            continue
        extra.append("%s -> %s" % (name, target))
    if own is not None:
        os.close(own)
    return allowed("; ".join(extra)) if extra else blocked("none but stdin, stdout and stderr")


@attack
def foreign_mounts(places, kinds):
    """Mounts that neither the policy nor the kind of sandbox has."""
    foreign = []
    for mount in mounts():
        place = mount["place"]
        known = place in places or any(place.startswith(one + "/") for one in ("/proc", "/sys", "/dev"))
        if not known or (place.startswith("/dev/") and mount["kind"] not in kinds):
            foreign.append("%s (%s)" % (place, mount["kind"]))
    return allowed("mounted: " + ", ".join(foreign)) if foreign else blocked("%d mounts, all of them known" % len(mounts()))


@attack
def place_options(option):
    """Places that can be written to and lack an option by which the kernel distrusts what is in them."""
    lacking = []
    writable = [mount for mount in mounts() if "ro" not in mount["options"]]
    for mount in writable:
        if mount["place"].startswith(("/proc", "/sys", "/dev")) or mount["place"] == "/" or option in mount["options"]:
            continue
        if os.access(mount["place"], os.W_OK):
            lacking.append(mount["place"])
    return allowed("without %s: %s" % (option, ", ".join(lacking))) if lacking else blocked("all have %s" % option)


@attack
def make_device(folder):
    path = os.path.join(folder, ".glovebox-device")

    def make():
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        os.remove(path)

    return attempt(make, "a device was made")


@attack
def foreign_devices(known):
    found = []
    for folder, _, names in os.walk("/dev"):
        if folder.startswith(("/dev/pts", "/dev/shm", "/dev/mqueue")):
            continue
        for name in names:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and name not in known:
                found.append(path)
    return allowed("devices of the host: " + ", ".join(found)) if found else blocked("none but the harmless ones")


def open_for_writing(path):
    """Opened, never written to: what it would do to the host must not happen."""
    os.close(os.open(path, os.O_WRONLY | os.O_NOCTTY))


def with_remount(path, mount_place):
    """Writing, and where the mount is read-only, writing after it was mounted anew."""
    try:
        open_for_writing(path)
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        system_call(number_of(165, 40), None, mount_place, None, 32, None)
        open_for_writing(path)


@attack
def kernel_settings():
    names = ("sys/kernel/core_pattern", "sys/kernel/modprobe", "sys/kernel/hostname", "sys/vm/overcommit_memory",
             "sys/kernel/randomize_va_space", "sysrq-trigger", "irq/default_smp_affinity")
    return first_allowed(
        (name, attempt(lambda: with_remount("/proc/" + name, b"/proc/" + name.split("/")[0].encode()), "it opens for writing", "not there"))
        for name in names
    )


@attack
def kernel_objects():
    names = ("kernel/mm/transparent_hugepage/enabled", "kernel/uevent_helper", "kernel/profiling", "power/state", "kernel/rcu_expedited")
    return first_allowed(
        (name, attempt(lambda: with_remount("/sys/" + name, b"/sys"), "it opens for writing", "not there")) for name in names
    )


@attack
def control_groups():
    """Moving to another cgroup, or making one that nothing bounds."""
    found = []
    for folder in ["/sys/fs/cgroup"] + ["/sys/fs/cgroup/" + name for name in ("memory", "pids", "cpu", "devices")]:
        for name in ("cgroup.procs", "release_agent", "memory.max", "memory.limit_in_bytes", "pids.max"):
            path = os.path.join(folder, name)
            action = lambda: with_remount(path, folder.encode())
            found.append((path, attempt(action, "it opens for writing", "not there")))

        def make():
            os.mkdir(folder + "/glovebox-probe")
            os.rmdir(folder + "/glovebox-probe")

        found.append((folder, attempt(make, "a cgroup was made", "not there")))
    return first_allowed(found)


@attack
def masked_paths():
    """Files of /proc and /sys that tell of the machine, or are its memory."""

    def look(path):
        if os.path.isdir(path):
            if os.listdir(path):
                return "%d entries" % len(os.listdir(path))
        else:
            with open(path, "rb") as file:
                if file.read(16):
                    return "it has content"
        raise FileNotFoundError(errno.ENOENT, "empty")

    paths = ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/latency_stats", "/proc/scsi",
             "/proc/acpi", "/sys/firmware", "/sys/devices/virtual/powercap")
    return first_allowed((path, attempt(lambda: look(path), "it can be read", "empty or not there")) for path in paths)


@attack
def open_by_handle(folder):
    """A file by its number in the file system, past every folder above it."""
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount_id = ctypes.c_int()
    try:
        system_call(number_of(303, 264), -100, ctypes.c_char_p(folder.encode()), handle, ctypes.byref(mount_id), 0)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP):
            return cannot("no handle: %s" % name_of(error))
        # A file system's number for its root, as if it had been told.
        handle = ctypes.create_string_buffer(struct.pack("IiQ", 8, 1, 2) + bytes(128))
    place = os.open(folder, os.O_RDONLY)
    number = number_of(304, 265)
    try:
        return attempt(lambda: os.close(system_call(number, place, handle, os.O_RDONLY)), "a file was opened by its handle")
    except OSError as error:
        return blocked(name_of(error))
    finally:
        os.close(place)


@attack
def change_root(folder):
    return attempt(lambda: os.chroot(folder), "the root is another one now")


@attack
def read_mount(path):
    """Something that the policy mounts has to be there."""
    if not any(mount["place"] == path for mount in mounts()):
        return blocked("nothing is mounted there")
    action = (lambda: len(os.listdir(path))) if os.path.isdir(path) else (lambda: len(read(path)))
    return attempt(action, "it can be read", "not there")


@attack
def write_mount(path, name):
    """A new file in a folder, an existing one for writing; neither is changed."""
    if os.path.isdir(path):
        new = os.path.join(path, name)

        def write():
            with open(new, "x"):
                pass
            os.remove(new)

        return attempt(write, "a file was written there", "not there")
    return attempt(lambda: open_for_writing(path), "it opens for writing", "not there")
