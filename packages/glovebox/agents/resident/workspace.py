class Refusal(Exception):
    """A frame that cannot be done; its fields go into the answer."""

    def __init__(self, message, **fields):
        super().__init__(message)
        self.fields = dict(fields, message=message)


class Workspace:
    """Files by paths of which no component is ever followed if it is a link."""

    def __init__(self):
        self.root = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.device, self.mounts = os.fstat(self.root).st_dev, self.find_mounts()
        self.seen = {}

    @staticmethod
    def find_mounts():
        """What is mounted below the workspace, which may be a part of the same device."""
        workspace = os.path.join(os.fsencode(os.getcwd()), b"")
        return {os.fsdecode(point[len(workspace) :]) for point in read_mounts() if point.startswith(workspace)}

    @staticmethod
    def signature(info):
        return (info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)

    def open_folder_of(self, path, make=False):
        parts = path.split("/") if isinstance(path, str) and "\0" not in path else [""]
        if any(part in ("", ".", "..") for part in parts):
            raise ValueError("not a path inside the workspace")
        folder = os.dup(self.root)
        for part in parts[:-1]:
            # gVisor follows a link that is opened as a folder to be read; not so with O_PATH.
            flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                try:
                    inner = os.open(part, flags, dir_fd=folder)
                except FileNotFoundError:
                    if not make:
                        raise
                    os.mkdir(part, 0o755, dir_fd=folder)
                    inner = os.open(part, flags, dir_fd=folder)
            finally:
                os.close(folder)
            folder = inner
        return folder, parts[-1]

    def create(self, path):
        folder, name = self.open_folder_of(path, make=True)
        try:
            self.clear(name, folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            return os.open(name, flags, 0o600, dir_fd=folder)
        finally:
            os.close(folder)

    def clear(self, name, folder):
        """Takes away what has the name, a folder with all that is in it: no program may keep a block from its file."""
        try:
            os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            pass
        except IsADirectoryError:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            try:
                for entry in os.listdir(inner):
                    self.clear(entry, inner)
            except RecursionError:
                raise OSError("a folder too deep to be replaced")
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=folder)

    def reopen(self):
        """A program may have closed the workspace to everyone."""
        try:
            mode = os.fstat(self.root).st_mode & 0o7777
            if mode & 0o700 != 0o700:
                os.fchmod(self.root, mode | 0o700)
        except OSError:
            pass

    def remove(self, path):
        self.seen.pop(path, None)
        try:
            folder, name = self.open_folder_of(path)
        except FileNotFoundError:
            return
        try:
            os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            pass
        finally:
            os.close(folder)

    def walk(self, folder, prefix, depth, skip):
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
        for name in names:
            try:
                path = prefix + name
                path.encode()
                if path in self.mounts:
                    continue
                info = os.stat(name, dir_fd=folder, follow_symlinks=False)
                kind = info.st_mode & 0o170000
                if kind != 0o100000 and (kind != 0o040000 or depth >= 64):
                    raise ValueError("neither a file nor a folder")
                inner = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
            except (OSError, ValueError):
                skip.append(path)
                continue
            try:
                info = os.fstat(inner)
                if info.st_mode & 0o170000 == 0o040000 and info.st_dev == self.device:
                    yield from self.walk(inner, path + "/", depth + 1, skip)
                elif info.st_mode & 0o170000 == 0o100000:
                    yield path, inner, info
            finally:
                os.close(inner)

    def is_unreadable(self, path):
        try:
            info = os.stat(path, dir_fd=self.root, follow_symlinks=False)
        except (OSError, ValueError):
            return False
        return info.st_mode & 0o170000 in (0o040000, 0o100000)

    def collect(self, max_files, max_bytes):
        files, total, skip, over, present = 0, 0, [], False, set()
        for path, file, info in self.walk(self.root, "", 0, skip):
            present.add(path)
            if self.seen.get(path) == self.signature(info):
                continue
            over = over or files + 1 > max_files or total + info.st_size > max_bytes
            if over:
                continue
            files, total = files + 1, total + info.st_size
            yield b"f", encode({"path": path, "size": info.st_size, "mode": info.st_mode & 0o777})
            left = info.st_size
            while left:
                data = os.read(file, min(CHUNK, left)) or bytes(min(CHUNK, left))
                left -= len(data)
                yield b"d", data
            self.seen[path] = self.signature(info)
        # What cannot be read is not gone, nor is what lies below it.
        hidden = {path for path in skip if self.is_unreadable(path)}
        for path in sorted(self.seen.keys() - present):
            if any(path[:at] in hidden for at, letter in enumerate(path + "/") if letter == "/"):
                over = True
                continue
            del self.seen[path]
            yield b"v", encode({"path": path})
        yield b"c", encode({"files": files, "bytes": total, "skipped": len(skip), "over": over})


class Put:
    """A file on its way in; after a failure it swallows what is still to come."""

    def __init__(self, workspace, header):
        self.workspace, self.path, self.left = workspace, header.get("path"), header.get("size")
        self.mode, self.file = header.get("mode", 0o644), None
        if not (isinstance(self.left, int) and self.left >= 0 and isinstance(self.mode, int)):
            raise Refusal("size and mode must be numbers", path=self.path)

    def attempt(self, action):
        try:
            return action()
        except (OSError, ValueError) as error:
            self.abandon()
            raise Refusal(getattr(error, "strerror", None) or str(error), path=self.path)

    def begin(self):
        self.file = self.attempt(lambda: self.workspace.create(self.path))

    def write(self, data):
        extra = len(data) - self.left
        self.left -= len(data)
        if extra > 0:
            self.abandon()
            raise Refusal("more bytes than the size says", path=self.path)
        if self.file is not None:
            self.attempt(lambda: self.store(data))

    def store(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self.file, view) :]
        if not self.left:
            os.fchmod(self.file, self.mode & 0o777)
            self.workspace.seen[self.path] = Workspace.signature(os.fstat(self.file))
            os.close(self.file)
            self.file = None

    def abandon(self):
        if self.file is None:
            return
        os.close(self.file)
        self.file = None
        try:
            self.workspace.remove(self.path)
        except (OSError, ValueError):
            pass
