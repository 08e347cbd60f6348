recorder = record_imports()
import _codecs, _collections, _functools, _weakref, gc, itertools, resource, select

# The package json takes longer to import than all else, for the sake of re.
from _json import encode_basestring_ascii as quote, make_scanner

try:
    import ctypes
except ImportError:
    ctypes = None


def read_text(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def read_mounts():
    """Every mount point and whether it is read-only, which gVisor tells nowhere else."""
    try:
        with open("/proc/self/mountinfo", "rb") as file:
            lines = [line.split() for line in file]
        return {_codecs.escape_decode(words[4])[0]: b"ro" in words[5].split(b",") for words in lines}
    except (OSError, IndexError, ValueError):
        return {}


def number(text):
    text = text.strip()
    return int(text) if text.isdigit() and int(text) < 1 << 62 else None


def ratio(quota, period):
    quota, period = number(quota), number(period)
    return quota / period if quota and period else None


def cgroup_facts():
    root = "/sys/fs/cgroup/"
    if os.path.exists(root + "cgroup.controllers"):
        quota, _, period = read_text(root + "cpu.max").partition(" ")
        files = ("memory.max", "memory.swap.max", "pids.max")
        memory, swap, pids = (number(read_text(root + name)) for name in files)
        return {"version": 2, "memory": memory, "swap": swap, "pids": pids, "cpus": ratio(quota, period)}
    if not os.path.isdir(root + "memory"):
        return {"version": None, "memory": None, "swap": None, "pids": None, "cpus": None}
    files = ("memory/memory.limit_in_bytes", "memory/memory.memsw.limit_in_bytes", "pids/pids.max")
    memory, swap, pids = (number(read_text(root + name)) for name in files)
    cpus = ratio(read_text(root + "cpu/cpu.cfs_quota_us"), read_text(root + "cpu/cpu.cfs_period_us"))
    return {"version": 1, "memory": memory, "swap": swap, "pids": pids, "cpus": cpus}


def find_program(name):
    if "/" in name:
        return name
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def gather_facts(config, ready):
    status = dict(line.split(":\t", 1) for line in read_text("/proc/self/status").splitlines() if ":\t" in line)
    names = ("NoNewPrivs", "Seccomp", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "Uid", "Gid", "Groups")
    interfaces = [line.split(":")[0].strip() for line in read_text("/proc/net/dev").splitlines()[2:] if ":" in line]
    space = os.statvfs(".")
    return {
        "version": 1,
        "python": "%d.%d.%d" % sys.version_info[:3],
        "uid": os.getuid(),
        "gid": os.getgid(),
        "status": {name: status[name].strip() if name in status else None for name in names},
        "programs": {name: find_program(name) for name in config.get("programs", [])},
        "interfaces": interfaces or None,
        "root": {"readOnly": bool(os.statvfs("/").f_flag & os.ST_RDONLY) or read_mounts().get(b"/", False)},
        "workspace": {"bytes": space.f_blocks * space.f_frsize or None, "files": space.f_files or None},
        "cgroup": cgroup_facts(),
        "ready": ready,
        **({"tunnel": config["tunnel"]} if "tunnel" in config else {}),
    }


class LimitCounters:
    """How often the kernel refused memory or a process, kept open because reading is on the path of every block."""

    FILES = {
        "memory": ("memory.events", "memory/memory.oom_control", b"oom_kill"),
        "pids": ("pids.events", "pids/pids.events", b"max"),
    }

    def __init__(self):
        self.open = {}
        for limit, (unified, legacy, key) in self.FILES.items():
            for path in (unified, legacy):
                try:
                    self.open[limit] = (os.open("/sys/fs/cgroup/" + path, os.O_RDONLY | os.O_CLOEXEC), key)
                    break
                except OSError:
                    pass

    def read(self):
        counts = {}
        for limit, (file, key) in self.open.items():
            fields = os.pread(file, 1024, 0).split()
            counts[limit] = int(fields[fields.index(key) + 1]) if key in fields else 0
        return counts

    def hit_since(self, before):
        hit = [limit for limit, count in self.read().items() if count > before.get(limit, 0)]
        try:
            space = os.statvfs(".")
        except OSError:
            return hit
        if (space.f_blocks and not space.f_bavail) or (space.f_files and not space.f_ffree):
            hit.append("workspace")
        return hit
