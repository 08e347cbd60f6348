def children_until_refused(most):
    """Forks up to a number; all of them end."""
    children, refusal = [], None
    try:
        while len(children) < most:
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            children.append(pid)
    except OSError as error:
        refusal = error
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    for pid in children:
        os.waitpid(pid, 0)
    return len(children), refusal


@attack
def fork_bomb(most):
    count, refusal = children_until_refused(most)
    if refusal is None:
        return allowed("%d processes, and no end" % count)
    return blocked("%s after %d processes" % (name_of(refusal), count))


@attack
def thread_bomb(most):
    import threading

    threading.stack_size(65536)
    end, threads = threading.Event(), []
    try:
        while len(threads) < most:
            one = threading.Thread(target=end.wait, daemon=True)
            one.start()
            threads.append(one)
    except (RuntimeError, OSError) as error:
        end.set()
        return blocked("%s after %d threads" % (error, len(threads)))
    end.set()
    return allowed("%d threads, and no end" % len(threads))


def available():
    """How much memory the machine has left, which a probe must not take away."""
    for line in read_or("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def in_victim(action):
    """Does it in a process of its own, which may be killed for it; what that said last, and how it ended."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            try:
                with open("/proc/self/oom_score_adj", "w") as file:
                    file.write("1000")
            except OSError:
                pass
            action(lambda amount: os.write(writer, b"%d\n" % amount))
            os.write(writer, b"done\n")
        except MemoryError:
            os.write(writer, b"MemoryError\n")
        except OSError as error:
            os.write(writer, name_of(error).encode() + b"\n")
        finally:
            os._exit(0)
    os.close(writer)
    said = b""
    while True:
        chunk = os.read(reader, 65536)
        if not chunk:
            break
        said += chunk
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    words = said.decode().split()
    reached_bytes = max([int(word) for word in words if word.isdigit()] or [0])
    last = words[-1] if words and not words[-1].isdigit() else None
    return reached_bytes, last, os.WTERMSIG(status) if os.WIFSIGNALED(status) else None


def judge_victim(what, result, most):
    amount, last, ended_by = result
    mib = amount // (1 << 20)
    if ended_by is not None:
        return blocked("killed by signal %d after %d MiB of %s" % (ended_by, mib, what))
    if last == "done":
        return allowed("%d MiB of %s, and no end" % (most // (1 << 20), what))
    if last in ("ENOSPC", "ENOMEM", "MemoryError", "EDQUOT"):
        return blocked("%s after %d MiB of %s" % (last, mib, what))
    return cannot("it ended with %s after %d MiB of %s" % (last, mib, what))


def too_little(most, shared):
    """Whether the machine could come to harm; a kernel of its own sees only what the sandbox is given."""
    left = available()
    if shared and left is not None and left < 2 * most:
        return cannot("the machine has %d MiB left, and the probe may need %d" % (left >> 20, most >> 20))
    return None


@attack
def memory_bomb(most, shared):
    def grow(tell):
        hoard = []
        step = 16 << 20
        for number in range(most // step + 1):
            block = bytearray(step)
            block[::4096] = b"x" * (step // 4096)
            hoard.append(block)
            tell((number + 1) * step)

    return too_little(most, shared) or judge_victim("memory", in_victim(grow), most)


@attack
def memory_files(most, shared):
    """Memory that belongs to no process: files without a name."""

    def grow(tell):
        file = os.memfd_create("probe") if hasattr(os, "memfd_create") else os.open("/dev/shm", os.O_TMPFILE | os.O_RDWR)
        block = b"x" * (1 << 20)
        for number in range(most >> 20):
            os.write(file, block)
            tell((number + 1) << 20)

    return too_little(most, shared) or judge_victim("memory in files", in_victim(grow), most)


@attack
def fill_place(folder, most, shared):
    path = os.path.join(folder, ".glovebox-fill")

    def grow(tell):
        block = b"x" * (1 << 20)
        with open(path, "wb", buffering=0) as file:
            for number in range(most >> 20):
                left = block
                while left:
                    left = left[file.write(left) :]
                tell((number + 1) << 20)

    try:
        return too_little(most, shared) or judge_victim(folder, in_victim(grow), most)
    finally:
        try:
            os.remove(path)
        except OSError:
            pass


@attack
def fill_names(folder, most):
    """Empty files without number."""
    place = os.path.join(folder, ".glovebox-names")
    os.mkdir(place)
    count = 0
    try:
        while count < most:
            os.close(os.open("%s/%d" % (place, count), os.O_CREAT | os.O_WRONLY))
            count += 1
        return allowed("%d files, and no end" % count)
    except OSError as error:
        return blocked("%s after %d files" % (name_of(error), count))
    finally:
        for number in range(count):
            os.remove("%s/%d" % (place, number))
        os.rmdir(place)


def processor_counts():
    """How many turns the kernel has counted of a group that it holds to a share, and in how many it held it back."""
    for path in ("/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"):
        fields = dict(line.split() for line in read_or(path).splitlines() if len(line.split()) == 2)
        if "nr_throttled" in fields:
            return int(fields["nr_periods"]), int(fields["nr_throttled"])
    return None


@attack
def use_processors(cpus, seconds):
    """More processes than processors, all busy: the kernel's own counters tell whether it held them back."""
    before, begin, pids = processor_counts(), time.monotonic(), []
    if before is None:
        return cannot("the kernel does not say whether it holds anything back")
    for _ in range(int(cpus) + 2):
        pid = os.fork()
        if pid == 0:
            while time.monotonic() - begin < seconds:
                pass
            os._exit(0)
        pids.append(pid)
    after, passed = before, 0.0
    # Where nothing is counted at all, a while is enough to know.
    while after[1] == before[1] and passed < (1 if after[0] == before[0] else seconds):
        time.sleep(0.05)
        after, passed = processor_counts(), time.monotonic() - begin
    used = 0.0
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        _, _, usage = os.wait4(pid, 0)
        used += usage.ru_utime + usage.ru_stime
    evidence = "%.2f s of processors' time in %.2f s" % (used, passed)
    if after[1] > before[1]:
        return blocked("%s, then held back" % evidence)
    if after[0] == before[0]:
        return allowed("%s, and nothing holds it back" % evidence)
    return cannot("%s: the machine is too busy to tell" % evidence)


@attack
def open_files(most):
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = most + 100 if hard == resource.RLIM_INFINITY else min(hard, most + 100)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    opened = []
    try:
        while len(opened) < most:
            opened.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        return blocked("%s after %d files" % (name_of(error), len(opened)))
    finally:
        for file in opened:
            os.close(file)
    return allowed("%d open files, and no end" % most)


@attack
def core_file():
    import resource

    try:
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    except (OSError, ValueError) as error:
        return blocked("refused: %s" % error)
    return blocked("a core file has at most 0 bytes") if hard == 0 else allowed("a core file may have %d bytes" % hard)


@attack
def swap():
    """By the kernel's own numbers: how much more than its memory it may have."""
    for path, limit in (("/sys/fs/cgroup/memory.swap.max", None), ("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes")):
        text = read_or(path).strip()
        if not text:
            continue
        more = None if text == "max" else int(text) - (int(read(limit)) if limit else 0)
        if more == 0:
            return blocked("no swap beside its memory")
        return allowed("%s of swap" % ("any amount" if more is None else "%d bytes" % more))
    lines = read_or("/proc/swaps").splitlines()[1:]
    if not lines:
        return blocked("the machine has no swap, and the kernel counts none")
    return cannot("the kernel does not say")


@attack
def survive_shortage(least):
    """Whether the kernel would kill the host's own processes before the sandbox."""
    score = int(read("/proc/1/oom_score_adj"))
    return blocked("oom_score_adj is %d" % score) if score >= least else allowed("oom_score_adj is %d" % score)


@attack
def better_turn():
    """A larger share of the processors than others'."""
    ways = {
        "nice": lambda: os.setpriority(os.PRIO_PROCESS, 0, -5),
        "real time": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
    }
    return first_allowed((name, attempt(way, "it has a better turn")) for name, way in ways.items())
