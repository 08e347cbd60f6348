# An IPython kernel as the child of jupyter.py: the code that it runs can change all of it, so nothing here is a guard.
import sys

# A planted module in the workspace must not be imported before IPython has put the workspace behind the library.
sys.path[:1] = [entry for entry in sys.path[:1] if entry]
# Neither is needed, and both take long to import; code that wants them still gets them.
UNUSED = ("debugpy", "jedi")
sys.modules.update(dict.fromkeys(UNUSED))

import asyncio, contextlib, fcntl, gc, importlib, io, os, re, select, shutil, signal, site, subprocess, threading, time, traceback

from IPython.core import interactiveshell, page
from IPython.core.error import UsageError
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from ipykernel.zmqshell import ZMQInteractiveShell
from traitlets import Type
from traitlets.config import Config
from traitlets.utils.importstring import import_item

for name in UNUSED:
    del sys.modules[name]

FONTS = "/usr/share/glovebox/matplotlib"
NO_INPUT = "There is nobody to ask: input() and getpass() do not work in a sandbox. Put the value into the code."
FLUSH_AFTER = 0.05
SAVED_FROM = 600


class Stream(io.TextIOWrapper):
    """Whole lines at once, and the beginning of a line a moment later: what is printed is there when the kernel is killed."""

    # No lock or event: an interrupt in the wrong moment would leave it locked for good.
    is_late = False

    def write(self, text):
        count = super().write(text)
        Stream.is_late = True
        return count

    @staticmethod
    def flush_late():
        while True:
            time.sleep(FLUSH_AFTER)
            if Stream.is_late:
                Stream.is_late = False
                for stream in tuple(STREAMS.values()):
                    try:
                        stream.flush()
                    except (OSError, ValueError):
                        pass


def open_stream(fd, errors):
    return Stream(io.BufferedWriter(io.FileIO(fd, "w", closefd=False)), "utf-8", errors, line_buffering=True)


def take_streams():
    for name in STREAMS:
        setattr(sys, name, STREAMS[name])
        setattr(sys, "__%s__" % name, STREAMS[name])


STREAMS = {"stdout": open_stream(1, "surrogateescape"), "stderr": open_stream(2, "backslashreplace")}
# Where no program closes files by their numbers, for code that closes or redirects its own streams.
SAVED = {fd: fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, SAVED_FROM) for fd in (1, 2)}


def mend_streams():
    for fd, saved in SAVED.items():
        try:
            if os.path.sameopenfile(fd, saved):
                continue
        except OSError:
            pass
        try:
            os.dup2(saved, fd)
        except OSError:
            pass
    for name, stream in STREAMS.items():
        if stream.closed:
            STREAMS[name] = open_stream(1 if name == "stdout" else 2, stream.errors)
            setattr(sys, "__%s__" % name, STREAMS[name])
        try:
            # Code may have put anything in its place; what cannot be flushed would fail every cell.
            getattr(sys, name).flush()
        except BaseException:
            setattr(sys, name, STREAMS[name])


def own_frames(tb):
    """A traceback without what IPython and this file do before and after the code's own part."""
    while tb and tb.tb_frame.f_code.co_filename.startswith(os.path.dirname(interactiveshell.__file__)):
        tb = tb.tb_next
    at = tb
    while at and at.tb_next:
        if at.tb_next.tb_frame.f_globals is globals():
            at.tb_next = at.tb_next.tb_next
        else:
            at = at.tb_next
    return tb


def is_ended_child(pid):
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False


def reap(killed):
    """Takes leave of children that were ended from outside; whoever holds one is to hear how it ended."""
    if not any(map(is_ended_child, killed)):
        return
    getattr(subprocess, "_cleanup", lambda: None)()
    if "multiprocessing.process" in sys.modules:
        sys.modules["multiprocessing.process"].active_children()
    left = {pid for pid in killed if is_ended_child(pid)}
    for thing in gc.get_objects() if left else ():
        if isinstance(thing, subprocess.Popen) and thing.pid in left:
            thing.poll()
    for pid in filter(is_ended_child, left):
        os.waitpid(pid, os.WNOHANG)


class Shell(ZMQInteractiveShell):
    # What a cell is called in tracebacks.
    code_file = "<cell>"
    exit_code = 0
    has_told = is_interrupted = False

    def init_instance_attrs(self):
        super().init_instance_attrs()
        self.compile.get_code_name = lambda *_: self.code_file

    def init_user_ns(self):
        """Also what is left after %reset: exit and quit as in a program."""
        super().init_user_ns()
        self.user_ns.update({"exit": sys.exit, "quit": sys.exit})
        self.user_ns_hidden.update({"exit": sys.exit, "quit": sys.exit, "__file__": None})

    def init_hooks(self):
        super().init_hooks()
        self.set_hook("show_in_pager", page.as_hook(show_page), 0)

    def init_environment(self):
        """Nothing that IPython would set is of use without a terminal."""

    def system(self, command):
        """Its output goes where this process's own goes, stdout and stderr apart."""
        command = self.var_expand(command, depth=1)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        code = subprocess.call(command, shell=True, executable=os.environ.get("SHELL"), stdin=subprocess.DEVNULL)
        self.user_ns["_exit_code"] = code

    def ask_exit(self):
        raise SystemExit

    def showtraceback(self, exc_tuple=None, filename=None, tb_offset=None, exception_only=False, running_compiled_code=False):
        """As Python itself shows it: no colours, and none of IPython's own frames."""
        try:
            kind, error, tb = self._get_exc_info(exc_tuple)
        except ValueError:
            return print("No traceback available to show.", file=sys.stderr)
        self.has_told = True
        if kind is SystemExit:
            return self.show_exit(error)
        if self.is_interrupted and issubclass(kind, asyncio.CancelledError):
            kind, error = KeyboardInterrupt, KeyboardInterrupt()
        if kind is UsageError:
            return self.show_usage_error(error)
        if issubclass(kind, SyntaxError) and not running_compiled_code:
            tb = None
        self.say("".join(traceback.format_exception(kind, error, own_frames(tb))))

    def show_exit(self, error):
        code = error.code
        if code is None:
            self.exit_code = 0
        elif isinstance(code, int):
            self.exit_code = code & 255
        else:
            self.exit_code = 1
            self.say("%s\n" % code)

    def showsyntaxerror(self, filename=None, running_compiled_code=False):
        self.showtraceback(running_compiled_code=running_compiled_code)

    @staticmethod
    def say(text):
        mend_streams()
        sys.stderr.write(text)
        sys.stderr.flush()


def show_page(text, *_, **__):
    """What a pager would show: `len?`."""
    text = text.get("text/plain", "") if isinstance(text, dict) else text
    print(text if isinstance(text, str) else "\n".join(text))


def wake_on_signals():
    """A loop that waits for nothing else would not see an interrupt."""
    waker = getattr(asyncio.get_running_loop(), "_csock", None)
    if waker:
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)


class Kernel(IPythonKernel):
    shell_class = Type(Shell)

    async def execute_request(self, stream, ident, parent):
        """However it goes wrong, there is a reply: without one the cell would last until its deadline."""
        try:
            self.begin()
            metadata = parent.get("metadata") or {}
            self.prepare(metadata.get("file") or "<cell>", metadata.get("killed") or ())
            await super().execute_request(stream, ident, parent)
        except GeneratorExit:
            raise
        except BaseException as error:
            self.tell(error)
            self.session.send(stream, "execute_reply", {"status": "error"}, parent, ident=ident, metadata={"exit": 1})
        finally:
            mend_streams()

    async def do_execute(self, *args, **options):
        """Only how it ended: the rest of a reply is of no use here, and may be what no message can hold."""
        try:
            status = (await super().do_execute(*args, **options))["status"]
        except GeneratorExit:
            raise
        except BaseException as error:
            self.tell(error)
            status = "error"
        mend_streams()
        return {"status": status, "execution_count": self.execution_count}

    def tell(self, error):
        """Of what failed outside of the code, which has not been told of by then; nothing that it does can fail."""
        try:
            if not self.shell.has_told:
                self.shell.say("".join(traceback.format_exception(type(error), error, own_frames(error.__traceback__))))
        except BaseException:
            pass

    def begin(self):
        try:
            os.write(LINE, b".")
        except OSError:
            pass

    @contextlib.contextmanager
    def _cancel_on_sigint(self, future):
        """An interrupt of a cell that awaits; one that comes while its code runs is raised there, as in any other cell."""
        with super()._cancel_on_sigint(future):
            cancel = signal.getsignal(signal.SIGINT)

            def interrupt(*args):
                self.shell.is_interrupted = True
                if asyncio.current_task(future.get_loop()) is future:
                    raise KeyboardInterrupt
                cancel(*args)

            signal.signal(signal.SIGINT, interrupt)
            yield

    def prepare(self, file, killed):
        """What a program finds that is started from its file."""
        mend_streams()
        reap(killed)
        wake_on_signals()
        self.shell.code_file = self.shell.user_ns["__file__"] = file
        sys.argv = [file]
        self.shell.exit_code = 1
        self.shell.has_told = self.shell.is_interrupted = False
        importlib.invalidate_caches()

    def finish_metadata(self, parent, metadata, reply_content):
        metadata["exit"] = 0 if reply_content.get("status") == "ok" else self.shell.exit_code
        return metadata

    def raw_input(self, prompt=""):
        raise EOFError(NO_INPUT)

    def getpass(self, prompt="", stream=None):
        raise EOFError(NO_INPUT)


class InOrder:
    """Sends what is shown, and waits until it was taken: it goes another way than what is printed after it."""

    KINDS = ("display_data", "execute_result", "update_display_data", "clear_output")
    SHOWS = ("display_data", "execute_result")
    # What IPython's own wrappers give as text, where their content is another form.
    SAYS_NOTHING = re.compile(r"<IPython\.core\.display\.\w+ object>")
    PATIENCE = 10

    def __init__(self, session, limit):
        self.send, self.pid, self.limit = session.send, os.getpid(), limit

    def __call__(self, stream, message, content=None, *args, **options):
        kind = message if isinstance(message, str) else message["header"]["msg_type"]
        if kind not in self.KINDS or os.getpid() != self.pid:
            return self.send(stream, message, content, *args, **options)
        shown = content if isinstance(message, str) else message["content"]
        data = shown.get("data") if kind in self.SHOWS and isinstance(shown, dict) else None
        if not isinstance(data, dict):
            return self.send_and_wait(stream, message, content, *args, **options)
        text = self.text_of(data)
        try:
            return self.send_and_wait(stream, message, content, *args, **options) if data else None
        finally:
            # Output like any other, however long, behind all that was written before what is shown.
            STREAMS["stdout"].write(text)
            STREAMS["stdout"].flush()

    def send_and_wait(self, stream, message, *args, **options):
        self.forget()
        sent = self.send(stream, message, *args, **options)
        try:
            select.select([LINE], [], [], self.PATIENCE)
        except (OSError, ValueError):
            pass
        return sent

    def text_of(self, data):
        """What is to be printed of it; a text that is long is then no longer part of it."""
        if STREAMS["stdout"].closed:
            mend_streams()
        text = data.get("text/plain")
        if not isinstance(text, str) or (len(data) > 1 and self.SAYS_NOTHING.fullmatch(text)):
            return ""
        # Half characters fit into no message.
        text = data["text/plain"] = text.encode("utf-8", "backslashreplace").decode()
        if len(text) > self.limit // 2:
            del data["text/plain"]
        return text + "\n"

    @staticmethod
    def forget():
        """Answers to what an interrupt kept from waiting."""
        try:
            os.read(LINE, 65536)
        except OSError:
            pass


class App(IPKernelApp):
    def init_io(self):
        """Output goes through the process's own streams, in order with that of its children, and is never dropped."""
        hook = import_item(str(self.displayhook_class))
        self.displayhook = sys.displayhook = hook(self.session, self.iopub_socket)


def quiet(text, *args, warn=interactiveshell.warn, **options):
    if not str(text).startswith("To exit:"):
        warn(text, *args, **options)


def main(folder, limit):
    take_streams()
    os.set_inheritable(LINE, False)
    os.set_blocking(LINE, False)
    # Its packages can be imported, behind all others; at the start nothing of it is run.
    sys.path.append(site.getusersitepackages())
    threading.Thread(target=Stream.flush_late, daemon=True).start()
    os.environ.setdefault("MPLCONFIGDIR", os.path.join(folder, "matplotlib"))
    if os.path.isdir(FONTS) and not os.path.exists(os.environ["MPLCONFIGDIR"]):
        shutil.copytree(FONTS, os.environ["MPLCONFIGDIR"])
    os.environ["IPYTHONDIR"] = os.path.join(folder, "ipython")
    os.mkdir(os.environ["IPYTHONDIR"])
    interactiveshell.warn = quiet
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    config.Application.log_level = 40
    app = App.instance(
        config=config,
        connection_file=os.path.join(folder, "connection.json"),
        kernel_class=Kernel,
    )
    app.initialize([])
    del os.environ["IPYTHONDIR"]
    app.session.send = InOrder(app.session, limit)
    sys.stdout.write("ready\n")
    app.start()
    while True:
        # Code has stopped the loop: the next cell needs it all the same.
        app.kernel.io_loop.start()


LINE = int(sys.argv[2])
main(sys.argv[1], int(sys.argv[3]))
