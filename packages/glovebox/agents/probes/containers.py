@attack
def shared_mounts(places, planted=""):
    """Mounts of the policy that pass on to the host what is mounted beneath them, or take it over from there."""
    found = []
    for line in (read("/proc/self/mountinfo", 1 << 20) + planted).splitlines():
        words = line.split(" ")
        ties = [word for word in words[6 : words.index("-")] if word.startswith(("shared:", "master:"))]
        if ties and words[4].replace("\\040", " ") in places:
            found.append("%s (%s)" % (words[4], " ".join(ties)))
    return allowed("tied to another's: " + ", ".join(found)) if found else blocked("%d mounts, each for itself" % len(places))


@attack
def kept_on_disk(place):
    """Whether a place is of a disk, and not of memory that goes with the sandbox."""
    kinds = [mount["kind"] for mount in mounts() if mount["place"] == place]
    if not kinds:
        return allowed("%s is of the root" % place)
    return blocked("%s is a tmpfs" % place) if kinds[-1] == "tmpfs" else allowed("%s is of another file system: %s" % (place, kinds[-1]))


def parent_of(pid):
    return int(status_fields(pid).get("PPid", "0"))


def own_line():
    """This process, those that it comes from, and those that come from the one that was started for the probes."""
    line, pid = {"1"}, str(os.getpid())
    while pid not in line and pid != "0":
        line.add(pid)
        pid = str(parent_of(pid))
    return line


def leave_program():
    """A program whose parent is gone, as one of the image's would be."""
    pid = os.fork()
    if pid == 0:
        if os.fork() == 0:
            os.execv("/proc/self/exe", ["planted", "-c", "import time; time.sleep(20)"])
        os._exit(0)
    os.waitpid(pid, 0)
    end = time.monotonic() + 5
    while time.monotonic() < end:
        commands = [read_or("/proc/%s/cmdline" % one) for one in os.listdir("/proc") if one.isdigit()]
        if any(command.startswith("planted") for command in commands):
            return
        time.sleep(0.01)


@attack
def foreign_programs(plant=False):
    """Programs that neither the agent nor the code has started: those of the image."""
    if plant:
        leave_program()
    agent, own = read_or("/proc/1/cmdline"), own_line()
    foreign = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        command = read_or("/proc/%s/cmdline" % pid)
        # One that the agent keeps ready is a copy of it.
        if pid in own or command in ("", agent) or str(parent_of(pid)) == str(OWN):
            continue
        foreign.append(command.replace("\0", " ").strip()[:60])
    return allowed("also running: " + "; ".join(foreign)) if foreign else blocked("none but the agent and the probe")


@attack
def fill_volumes(places, most):
    """More bytes than what covers a volume holds."""

    def fill(place):
        path = os.path.join(place, ".glovebox-fill")
        try:
            with open(path, "xb", buffering=0) as file:
                for _ in range(most >> 12):
                    file.write(bytes(4096))
        finally:
            try:
                os.remove(path)
            except OSError:
                pass

    return first_allowed((place, attempt(lambda: fill(place), "%d bytes were written" % most, "not there")) for place in places)


@attack
def host_names():
    """Names of other machines that were written into the sandbox's list of names."""
    usual = {"localhost", "ip6-localhost", "ip6-loopback", "ip6-localnet", "ip6-mcastprefix", "ip6-allnodes", "ip6-allrouters"}
    lines = [line.split("#")[0].split() for line in read_or("/etc/hosts").splitlines()]
    names = {name for words in lines for name in words[1:]} - usual - {platform.node()}
    return allowed("also named: " + ", ".join(sorted(names))) if names else blocked("none but its own")
