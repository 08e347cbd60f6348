@attack
def environment(known):
    """Variables that neither the policy, the image nor the sandbox sets."""
    raw = read_or("/proc/self/environ", "")
    names = {one.split("=", 1)[0] for one in raw.split("\0") if one} or set(os.environ)
    foreign = sorted(names - set(known))
    return allowed("also set: %s" % ", ".join(foreign)) if foreign else blocked("%d variables, all of them known" % len(names))


@attack
def secret_value(secret):
    """A value of the host's environment: in variables, in commands, in files."""
    places = []
    for name, value in os.environ.items():
        if secret in value:
            places.append("the variable " + name)
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in (os.getpid(), OWN):
            for leaf in ("environ", "cmdline"):
                if secret in read_or("/proc/%s/%s" % (name, leaf)):
                    places.append("/proc/%s/%s" % (name, leaf))
    return allowed("found in " + ", ".join(places)) if places else blocked("found nowhere")


@attack
def agent_environment():
    """What process 1 was given, which nobody else is to read."""

    def look(path):
        if not read(path):
            raise OSError(errno.EACCES, "empty")

    return first_allowed((path, attempt(lambda: look(path), "it can be read")) for path in ("/proc/1/environ", "/proc/1/maps", "/proc/1/mem"))


@attack
def secret_files(paths):
    """Where keys and tokens usually are."""

    def look(path):
        if os.path.isdir(path):
            if not os.listdir(path):
                raise FileNotFoundError(errno.ENOENT, "empty")
            return "%d entries" % len(os.listdir(path))
        read(path)

    return first_allowed((path, attempt(lambda: look(path), "it is there", "not there")) for path in paths)


@attack
def machine_name(name):
    seen = platform.node()
    return allowed("it is the host's: %s" % seen) if seen == name else blocked("it is %s" % seen)
