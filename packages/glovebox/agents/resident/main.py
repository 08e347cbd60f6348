def sweep():
    """Kills and reaps every other process of the container; a kill of all is atomic, so no fork escapes it."""
    statuses = {}
    try:
        while True:
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                pass
            pid, status = os.waitpid(-1, 0)
            statuses[pid] = status
    except ChildProcessError:
        return statuses


def close_inherited():
    """What starts a sandbox without an engine may have left files of the host open to it."""
    try:
        files = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        return
    for file in files:
        try:
            if file > 2:
                os.close(file)
        except OSError:
            pass


def main(agent=Agent):
    if os.getpid() != 1:
        os.write(2, b"glovebox resident: not process 1 of a container\n")
        os._exit(2)
    try:
        config = decode(sys.argv[1].encode())
        os.chdir(config["workspace"])
    except (IndexError, KeyError, TypeError, ValueError, OSError, Refusal) as error:
        os.write(2, ("glovebox resident: bad config: %s\n" % error).encode())
        os._exit(2)
    os.umask(0o022)
    close_inherited()
    agent(config).serve()


main()
