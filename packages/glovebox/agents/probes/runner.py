import ctypes, errno, json, os, platform, select, signal, socket, stat, struct, sys, time

BLOCKED, ALLOWED, INCONCLUSIVE, ERROR = "BLOCKED", "ALLOWED", "INCONCLUSIVE", "ERROR"
EVIDENCE_LENGTH = 240
ATTACKS = {}
# The process that was started for the probes; it is theirs.
OWN = os.getpid()
# What a kernel, its filters and its mounts say when they refuse; anything else is no refusal.
REFUSALS = {
    getattr(errno, name)
    for name in "EPERM EACCES EROFS ENOSYS ENODEV ENXIO ENOSPC EDQUOT EAGAIN ENOMEM EMFILE ENETUNREACH EHOSTUNREACH "
    "ECONNREFUSED EAFNOSUPPORT EADDRNOTAVAIL ENOTSUP EPROTONOSUPPORT ENETDOWN ENONET ESOCKTNOSUPPORT".split()
    if hasattr(errno, name)
}


def attack(function):
    """Makes a function an attack that the host can ask for, by its name."""
    ATTACKS[function.__name__] = function
    return function


def blocked(evidence):
    return BLOCKED, evidence


def allowed(evidence):
    return ALLOWED, evidence


def cannot(evidence):
    return INCONCLUSIVE, evidence


def name_of(error):
    return errno.errorcode.get(error.errno, str(error))


def attempt(action, done, missing=None):
    """Does it: done is what is said when it worked; missing, when what it needs is not there, which is also a refusal."""
    try:
        value = action()
    except OSError as error:
        if error.errno in REFUSALS:
            return blocked("refused: %s" % name_of(error))
        if missing is not None and error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ESRCH):
            return blocked(missing)
        return cannot("it failed for another reason: %s" % name_of(error))
    return allowed(done if value is None else "%s (%s)" % (done, value))


def first_allowed(findings):
    """All of several ways are tried: one that works is enough, and one that could not be tried leaves it open."""
    findings = list(findings)
    for wanted in (ALLOWED, INCONCLUSIVE):
        for way, (observed, evidence) in findings:
            if observed == wanted:
                return observed, "%s: %s" % (way, evidence)
    kinds = sorted({evidence for _, (_, evidence) in findings})
    return blocked("%d tried; %s" % (len(findings), "; ".join(kinds)))


def read(path, limit=65536):
    with open(path, "rb") as file:
        return file.read(limit).decode("utf-8", "replace")


def read_or(path, otherwise=""):
    try:
        return read(path)
    except OSError:
        return otherwise


def status_fields(pid="self"):
    lines = read_or("/proc/%s/status" % pid).splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def mounts():
    """Each mount as its place, its kind, its options and what of its source is mounted there."""
    found = []
    for line in read("/proc/self/mountinfo", 1 << 20).splitlines():
        words = line.split(" ")
        at = words.index("-")
        place = words[4].replace("\\040", " ")
        found.append({"place": place, "from": words[3], "options": words[5].split(","), "kind": words[at + 1]})
    return found


def libc():
    return ctypes.CDLL(None, use_errno=True)


def system_call(number, *arguments):
    """A system call by its number; an error is an OSError."""
    if number is None:
        raise OSError(errno.ENOEXEC, "its number is not known on this processor")
    wide = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    ctypes.set_errno(0)
    result = libc().syscall(ctypes.c_long(number), *wide)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def number_of(x86, arm):
    return {"x86_64": x86, "amd64": x86, "aarch64": arm, "arm64": arm}.get(platform.machine())


def finding_of(name, given, host_kernel=None):
    try:
        observed, evidence = ATTACKS[name](**given)
    except MemoryError:
        observed, evidence = ERROR, "the probe itself had no memory"
    except BaseException as error:
        observed, evidence = ERROR, "%s: %s" % (type(error).__name__, error)
    # What another kernel than the host's does with a call is no matter of the host.
    if host_kernel and observed in (ALLOWED, INCONCLUSIVE) and platform.release() != host_kernel:
        observed, evidence = BLOCKED, "only a kernel of its own was reached, %s: %s" % (platform.release(), evidence)
    return {"observed": observed, "evidence": str(evidence)[:EVIDENCE_LENGTH]}


def in_child(name, given, seconds, host_kernel):
    """Runs an attack in a process of its own, with a time limit, and ends all that it leaves."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            os.close(reader)
            data = json.dumps(finding_of(name, given, host_kernel)).encode()
            while data:
                data = data[os.write(writer, data) :]
        finally:
            os._exit(0)
    os.close(writer)
    data, end = b"", time.monotonic() + seconds
    while True:
        ready, _, _ = select.select([reader], [], [], max(0, end - time.monotonic()))
        chunk = os.read(reader, 65536) if ready else b""
        if not chunk:
            break
        data += chunk
    os.close(reader)
    for target in (-pid, pid):
        try:
            os.kill(target, signal.SIGKILL)
        except OSError:
            pass
    _, status = os.waitpid(pid, 0)
    try:
        return json.loads(data)
    except ValueError:
        late = time.monotonic() >= end
        why = "no answer within %d s" % seconds if late else "the probe's process ended with status %d" % status
        return {"observed": ERROR, "evidence": why}


def main(asked, marker, apart):
    """Makes the attacks; apart, in a process each, so that none can spoil another."""
    run = in_child if apart and hasattr(os, "fork") else lambda name, given, _, kernel: finding_of(name, given, kernel)
    for one in asked:
        try:
            finding = run(one["attack"], one["given"], one["seconds"], one.get("hostKernel"))
        except OSError as error:
            finding = {"observed": ERROR, "evidence": "it could not be started: %s" % name_of(error)}
        print(marker + json.dumps(dict(finding, id=one["id"])), flush=True)
